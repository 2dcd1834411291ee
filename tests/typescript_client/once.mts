// Makes one agent, whatever becomes of the answers, and says what there is afterwards.

import { Client } from "../../clients/typescript/src/index.ts";
import { program, thrown } from "./program.mts";

program(async ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) => {
  const waits: number[] = [];
  const client = new Client({ baseUrl, apiKey, sleep: async (ms) => waits.push(ms), random: () => 0 });
  const talker = { voice_id: "en-US-ada", language: "en-US", system_prompt: "Say hello." };
  const made = await client.agents.create({ name: "Ada", ...talker });
  const listed = (await client.agents.list()).data.map((agent) => agent.id);
  const changed = await thrown(client.agents.update({ id: made.id, name: "Bea" }));
  return { made: made.id, listed, changed, waits };
});
