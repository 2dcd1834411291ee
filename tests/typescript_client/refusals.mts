// Runs into what the service refuses, and says what was thrown.

import { Client } from "../../clients/typescript/src/index.ts";
import { program, thrown } from "./program.mts";

program(async ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) => {
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<unknown> => waits.push(ms);
  const client = new Client({ baseUrl, apiKey, sleep });
  const stranger = new Client({ baseUrl, apiKey: `svc_live_${"0".repeat(48)}`, sleep });
  const curious = new Client({ baseUrl, apiKey, sleep, beta: ["nothing_such"] });
  const seen: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    seen.push(response.headers.get("x-service-beta") ?? "");
    return response;
  };
  await new Client({ baseUrl, apiKey, sleep, fetch, beta: ["ratelimit_fields"] }).wallet.get();
  return {
    nested: await thrown(client.agents.get({ id: "agt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H" })),
    several: await thrown(client.agents.create({ name: "" } as never)),
    flat: await thrown(stranger.wallet.get()),
    ownerless: await thrown(client.phoneNumbers.rent({ country: "US" })),
    beta: await thrown(curious.wallet.get()),
    echoed: seen,
    waits,
  };
});
