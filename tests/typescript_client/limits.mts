// Asks for more than the plan allows, and waits by moving the service's clock.

import { Client } from "../../clients/typescript/src/index.ts";
import { program, thrown } from "./program.mts";

interface Asked {
  baseUrl: string;
  apiKey: string;
  clock: string;
}

program(async ({ baseUrl, apiKey, clock }: Asked) => {
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    await globalThis.fetch(`${clock}?ms=${ms}`, { method: "POST" });
  };
  const client = new Client({ baseUrl, apiKey, sleep, random: () => 0 });
  const talker = { voice_id: "en-US-ada", language: "en-US", system_prompt: "Say hello." };
  const made: string[] = [];
  for (let number = 0; number < 13; number += 1) {
    made.push((await client.agents.create({ name: `Ada ${number}`, ...talker })).id);
  }
  const found: string[] = [];
  for await (const agent of client.agents.list({ per_page: 1, sort: "created_at" })) found.push(agent.id);
  for (const id of made) await client.agents.delete({ id });
  const left = (await client.agents.list()).data.length;
  const waited = waits.splice(0);
  const impatient = new Client({ baseUrl, apiKey, sleep: async (ms) => waits.push(ms), retries: { longestWaitMs: 2_000 } });
  const looks = Array.from({ length: 9 }, () => impatient.wallet.get());
  const settled = await Promise.allSettled(looks);
  const failed = await thrown(impatient.wallet.get());
  return { made, found, left, waited, failed, refused: settled.filter((each) => each.status === "rejected").length };
});
