// What the client does about answers that a service rarely gives. Each check has a sentence for its name.

import {
  CallwrightError,
  Client,
  Conflict,
  InvalidArguments,
  InvalidSignature,
  RateLimited,
  RuleRejected,
  ServiceFailed,
  ServiceTimeout,
  ServiceUnreachable,
  UnexpectedAnswer,
  verify,
} from "../../clients/typescript/src/index.ts";
import type { ClientOptions, DeprecationNotice } from "../../clients/typescript/src/index.ts";
import { program, thrown } from "./program.mts";

type Step = Response | Error | (() => Response | Promise<Response>);
const KEY = `svc_live_${"0123456789abcdef".repeat(3)}`;
const AGENT = { id: "agt_1", name: "Ada" };
const ADA = { name: "Ada", voice_id: "v", language: "en-US", system_prompt: "p" };

function equal(found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) throw new Error(`found ${left}, expected ${right}`);
}

function data(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ data: value }), { status, headers });
}

function page(entries: unknown[], next: string | null, more = next !== null): Response {
  const pagination = { page: 1, per_page: 50, total: 3, has_more: more, next_cursor: next };
  return new Response(JSON.stringify({ data: entries, pagination }));
}

function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ error: { type: "t", code, message: "No.", request_id: "req_1" } }), { status, headers });
}

function lost(code: string): Error {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(KEY), { code }) });
}

/** A client whose service answers by script, the last step for ever; what it was sent and how it waited. */
function scripted(steps: Step[], options: Partial<ClientOptions> = {}) {
  const left = [...steps];
  const sent: { method: string; url: string; headers: Headers; body: unknown }[] = [];
  const waits: number[] = [];
  const notices: DeprecationNotice[] = [];
  const client = new Client({
    baseUrl: "http://service.test/v1",
    apiKey: KEY,
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      sent.push({ method: init?.method ?? "", url: String(url), headers, body: init?.body });
      const step = (left.length > 1 ? left.shift() : left[0]) as Step;
      if (step instanceof Error) throw step;
      return step instanceof Response ? step.clone() : await step();
    },
    sleep: async (ms) => waits.push(ms),
    random: () => 0,
    onDeprecation: (notice) => notices.push(notice),
    ...options,
  });
  return { client, sent, waits, notices };
}

/** How often a request is sent whose first answer is this one, by the way it is asked. */
async function timesSent(step: () => Step): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const ways: [string, (client: Client) => PromiseLike<unknown>][] = [
    ["get", (client) => client.agents.get({ id: "agt_1" })],
    ["post", (client) => client.agents.create(ADA)],
    ["patch", (client) => client.agents.update({ id: "agt_1", name: "Eve" })],
    ["delete", (client) => client.agents.delete({ id: "agt_1" })],
  ];
  for (const [name, ask] of ways) {
    const { client, sent } = scripted([step(), data(AGENT)]);
    await ask(client).then(null, () => null);
    found[name] = sent.length;
  }
  return found;
}

const SECRET = `whsec_${"aB3-_".repeat(8)}`;
const OTHER = `whsec_${"zY9-_".repeat(8)}`;
const NOW = 1_795_262_400;
const EVENT = new TextEncoder().encode(
  '{"id":"evt_1","type":"call.hummed","created_at":"2026-11-21T12:00:00.123Z","org_id":"org_1","data":{"tune":"ü"}}',
);
/** Signed by the service; `tests/client/test_receiving.py` has the same. */
const SIGNED = "t=1795262400,v1=d3d9e20f21ae9a40e30683f8edeb7685f9a3ffabbba479120dcfc10a5c8f4ff5";

/** Why an event is refused. */
async function refusal(body: Uint8Array, header: string | null | undefined, secret: string, now = NOW): Promise<unknown> {
  try {
    await verify(body, header, secret, { now });
  } catch (error) {
    if (error instanceof InvalidSignature) return error.reason;
    throw error;
  }
  return "nothing";
}

const ALL = { get: 2, post: 2, patch: 2, delete: 2 };
const SAFE = { get: 2, post: 2, patch: 1, delete: 1 };
const NONE = { get: 1, post: 1, patch: 1, delete: 1 };

const CHECKS: Record<string, () => Promise<void>> = {
  "a request is sent again exactly where that is safe": async () => {
    for (const code of ["ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]) {
      equal(await timesSent(() => lost(code)), ALL);
    }
    for (const status of [408, 429]) equal(await timesSent(() => problem(status, "x")), ALL);
    for (const code of ["ECONNRESET", "UND_ERR_SOCKET", ""]) equal(await timesSent(() => lost(code)), SAFE);
    for (const status of [500, 502, 503, 504]) equal(await timesSent(() => problem(status, "x")), SAFE);
    equal(await timesSent(() => problem(409, "idempotency_in_progress")), SAFE);
    equal(await timesSent(() => problem(429, "daily_quota_exceeded", { "Retry-After": "1" })), NONE);
    for (const status of [400, 401, 403, 404, 409, 416, 422, 501]) equal(await timesSent(() => problem(status, "x")), NONE);
    equal(await timesSent(() => new Response(null, { status: 302 })), NONE);
    equal(await timesSent(() => new RangeError("a fault of the caller's fetch")), NONE);
  },
  "every try of a creation carries the same key and the same body": async () => {
    const { client, sent } = scripted([problem(503, "x")]);
    await thrown(client.agents.create(ADA));
    equal(sent.length, 4);
    equal(new Set(sent.map((each) => each.headers.get("idempotency-key"))).size, 1);
    equal(new Set(sent.map((each) => each.body)).size, 1);
    await thrown(client.agents.create(ADA));
    equal(new Set(sent.map((each) => each.headers.get("idempotency-key"))).size, 2);
  },
  "a key of the caller is used, and refused where it cannot be one": async () => {
    const { client, sent } = scripted([data(AGENT, 201)]);
    await client.agents.create(ADA, { idempotencyKey: "mine" });
    equal(sent[0]?.headers.get("idempotency-key"), "mine");
    for (const idempotencyKey of ["", "a b", "é", "x".repeat(256)]) {
      equal((await thrown(client.agents.create(ADA, { idempotencyKey })))["name"], InvalidArguments.name);
    }
    equal((await thrown(client.agents.get({ id: "a" }, { idempotencyKey: "k" })))["name"], InvalidArguments.name);
    equal(sent.length, 1);
  },
  "waits double, follow Retry-After, and are bounded": async () => {
    const failing = scripted([problem(500, "internal_error")]);
    equal((await thrown(failing.client.wallet.get()))["name"], ServiceFailed.name);
    equal(failing.waits, [250, 500, 1000]);
    const asking = scripted([problem(503, "x", { "Retry-After": "2" }), problem(429, "rate_limited", { "Retry-After": "7" }), data({})]);
    await asking.client.wallet.get();
    equal(asking.waits, [2000, 7000]);
    const limited = scripted([problem(429, "rate_limited", { "Retry-After": "10" })]);
    equal((await thrown(limited.client.wallet.get()))["name"], RateLimited.name);
    equal(limited.waits, [10_000, 10_000, 10_000]);
    const storm = scripted([problem(429, "rate_limited", { "Retry-After": "0" })]);
    await thrown(storm.client.wallet.get());
    equal([storm.waits.length, storm.waits[0]], [120, 250]);
    const long = scripted([problem(429, "rate_limited", { "Retry-After": "3600" })]);
    equal((await thrown(long.client.wallet.get()))["retryAfter"], 3600);
    equal(long.waits, []);
    const single = scripted([problem(429, "rate_limited", { "Retry-After": "1" })], { retries: { attempts: 1 } });
    await thrown(single.client.wallet.get());
    equal(single.waits, []);
    const jitter = scripted([problem(500, "x"), problem(429, "x", { "Retry-After": "1" }), data({})], { random: () => 0.5 });
    await jitter.client.wallet.get();
    equal(jitter.waits, [187.5, 1125]);
  },
  "a recording that cannot be rendered is asked for once more only": async () => {
    const { client, sent } = scripted([problem(503, "service_unavailable")]);
    await thrown(client.calls.getRecording({ call_uuid: "cal_1" }));
    equal(sent.length, 2);
  },
  "a date as Retry-After counts from the answer's own date": async () => {
    const dates = { "Retry-After": "Sat, 21 Nov 2026 09:31:30 GMT", Date: "Sat, 21 Nov 2026 09:30:00 GMT" };
    equal((await thrown(scripted([problem(429, "x", dates)]).client.wallet.get()))["retryAfter"], 90);
    for (const value of ["soon", "-3", "1.5", dates["Retry-After"]]) {
      const { client } = scripted([problem(400, "x", { "Retry-After": value })]);
      equal((await thrown(client.wallet.get()))["retryAfter"], undefined);
    }
  },
  "an attempt that takes too long is ended and tried again": async () => {
    const never = (url: unknown, init?: RequestInit): Promise<Response> =>
      new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    let asked = 0;
    const fetch: typeof globalThis.fetch = (url, init) => ((asked += 1), never(url, init));
    const { client } = scripted([], { fetch, timeoutMs: 1, retries: { attempts: 2 } });
    const error = await thrown(client.wallet.get());
    equal([error["name"], error["message"], asked], [ServiceTimeout.name, "http://service.test did not answer in time", 2]);
    await thrown(client.agents.delete({ id: "agt_1" }));
    equal(asked, 3);
  },
  "a body that does not come is bound by the same time": async () => {
    const stalled = (): Response => new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array([123])) }));
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const { body } = stalled();
      const ended = new TransformStream();
      void body?.pipeTo(ended.writable, { signal: init?.signal as AbortSignal }).catch(() => null);
      return new Response(ended.readable);
    };
    const { client } = scripted([], { fetch, timeoutMs: 1, retries: { attempts: 1 } });
    equal((await thrown(client.wallet.get()))["name"], ServiceTimeout.name);
  },
  "a signal of the caller ends the call with its own reason, also during a wait": async () => {
    const stop = new AbortController();
    const { client, sent } = scripted([problem(503, "x")], {
      sleep: async () => stop.abort(new Error("enough")),
    });
    const ended = await client.wallet.get({}, { signal: stop.signal }).then(null, (error: Error) => error.message);
    equal([ended, sent.length], ["enough", 1]);
    const early = scripted([data({})], { fetch: async (_, init) => (init?.signal?.throwIfAborted(), data({})) });
    equal(await early.client.wallet.get({}, { signal: stop.signal }).then(null, (error: Error) => error.message), "enough");
  },
  "the client's own wait ends early when the signal is aborted": async () => {
    const { sleep } = await import("../../clients/typescript/src/transport.ts");
    const stop = new AbortController();
    const waiting = sleep(1_000_000, stop.signal);
    stop.abort();
    await waiting;
    await sleep(1_000_000, stop.signal);
    await sleep(0);
  },
  "the key is in no error and in nothing that is printed": async () => {
    const steps = [lost("ECONNRESET"), problem(401, "invalid_api_key"), new Response(KEY), new Response(KEY, { status: 500 })];
    for (const step of steps) {
      const { client } = scripted([step], { retries: { attempts: 1 } });
      const error = await client.wallet.get().then(null, (found: CallwrightError) => found);
      const { cause: _, ...shown } = error as CallwrightError;
      const said = `${String(error)}${(error as Error).stack}${JSON.stringify(shown)}${JSON.stringify(client)}`;
      if (said.includes(KEY.slice(9))) throw new Error("the key was shown");
    }
  },
  "a redirect is not followed": async () => {
    const { client, sent } = scripted([new Response(null, { status: 302, headers: { Location: "http://elsewhere.test/" } })]);
    const error = await thrown(client.wallet.get());
    equal([error["name"], error["status"], sent.length], [UnexpectedAnswer.name, 302, 1]);
  },
  "an answer that is too large, no JSON, or without data is not taken": async () => {
    const large = scripted([new Response("x".repeat(101))], { maxAnswerBytes: 100 });
    for (const { client } of [large, ...["<html>", "[]", "{}", ""].map((text) => scripted([new Response(text)]))]) {
      equal((await thrown(client.wallet.get()))["name"], UnexpectedAnswer.name);
      equal((await thrown(client.agents.list()))["name"], UnexpectedAnswer.name);
    }
  },
  "a body in neither envelope gives a problem by its status and repeats none of it": async () => {
    for (const body of ["", "<html>secret</html>", "[]", '{"error":7}', '{"detail":"secret"}', "[".repeat(9999)]) {
      const { client } = scripted([new Response(body, { status: 502, headers: { "X-Request-Id": "req_9" } })]);
      const error = await thrown(client.wallet.get());
      equal([error["name"], error["code"], error["requestId"]], [ServiceFailed.name, "http_502", "req_9"]);
      if (String(error["message"]).includes("secret")) throw new Error("its text was repeated");
    }
  },
  "a problem keeps its details and its message says what to do": async () => {
    const money = { amount: "9.50", currency: "USD" };
    const error = { code: "insufficient_credits", message: "Too little.", required: money, available: null };
    const { client } = scripted([new Response(JSON.stringify({ error }), { status: 422 })]);
    const found = await client.wallet.get().then(null, (each: unknown) => each);
    if (!(found instanceof RuleRejected)) throw found;
    equal(found.details, { required: money, available: null });
    equal(
      found.message,
      "422 insufficient_credits: Too little. Have the wallet topped up; `required` and `available` say how much is missing. " +
        "(required 9.50 USD)",
    );
    equal((await thrown(scripted([problem(409, "nothing_known")]).client.wallet.get()))["name"], Conflict.name);
  },
  "a list is one page when awaited and every entry when looped over": async () => {
    const { client, sent } = scripted([page([1], "a"), page([1], "a"), page([2, 3], "b"), page([4], null)]);
    equal((await client.agents.list({ per_page: 1 })).data, [1]);
    const found: unknown[] = [];
    for await (const agent of client.agents.list({ page: 1, language: ["en-US"] })) found.push(agent);
    equal(found, [1, 2, 3, 4]);
    equal(
      sent.map((each) => new URL(each.url).search),
      [
        "?per_page=1",
        "?page=1&per_page=200&filter%5Blanguage%5D=en-US",
        "?per_page=200&cursor=a&filter%5Blanguage%5D=en-US",
        "?per_page=200&cursor=b&filter%5Blanguage%5D=en-US",
      ],
    );
  },
  "a loop that stops early asks for no further page": async () => {
    const { client, sent } = scripted([page([1, 2], "a")]);
    for await (const _ of client.agents.list()) break;
    equal(sent.length, 1);
  },
  "a walk goes on behind a rate limit": async () => {
    const { client, waits } = scripted([page([1], "a"), problem(429, "rate_limited", { "Retry-After": "1" }), page([2], null)]);
    const found: unknown[] = [];
    for await (const agent of client.agents.list()) found.push(agent);
    equal([found, waits], [[1, 2], [1000]]);
  },
  "a cursor that leads in a circle, or is missing, ends the walk": async () => {
    for (const steps of [[page([1], "a"), page([2], "a")], [page([1], null, true)]]) {
      const { client } = scripted(steps);
      const walk = async (): Promise<void> => {
        for await (const _ of client.agents.list()) void _;
      };
      equal((await thrown(walk()))["name"], UnexpectedAnswer.name);
    }
  },
  "arguments that cannot travel are refused before anything is sent": async () => {
    const { client, sent } = scripted([data({})]);
    const wrong: PromiseLike<unknown>[] = [
      ...["", ".", "..", "a/b"].map((id) => client.agents.get({ id })),
      client.agents.get({} as { id: string }),
      client.agents.get({ id: "a", name: "x" } as { id: string }),
      client.agents.list({ language: [] }),
      client.agents.list({ language: ["a,b"] }),
      client.calls.getRecording({ call_uuid: "c" }, { range: [-1] }),
      client.calls.getRecording({ call_uuid: "c" }, { range: [5, 4] }),
    ];
    for (const call of wrong) equal((await thrown(call))["name"], InvalidArguments.name);
    equal(sent.length, 0);
  },
  "an event is taken when it was signed with one of the secrets, lately": async () => {
    for (const secrets of [SECRET, [OTHER, SECRET]]) {
      for (const off of [-300, 0, 300]) equal((await verify(EVENT, SIGNED, secrets, { now: NOW + off })).data, { tune: "ü" });
    }
    equal((await verify(EVENT.buffer, `v0=x, ${SIGNED},v1=${"0".repeat(64)}`, SECRET, { now: NOW })).id, "evt_1");
    equal(await refusal(EVENT, SIGNED, SECRET, NOW + 301), "too_old");
    equal(await refusal(EVENT, SIGNED, SECRET, NOW - 301), "too_new");
    equal(await refusal(EVENT, SIGNED, OTHER), "no_match");
    const message = (await thrown(verify(EVENT, SIGNED, OTHER)))["message"];
    equal(String(message).includes(OTHER.slice(6)), false);
  },
  "an event with a changed bit, or a header of another form, is refused": async () => {
    for (let place = 0; place < EVENT.length * 8; place += 7) {
      const changed = EVENT.slice();
      changed[place >> 3] = (changed[place >> 3] ?? 0) ^ (1 << (place & 7));
      equal(await refusal(changed, SIGNED, SECRET), "no_match");
    }
    const digest = SIGNED.split("v1=")[1];
    for (const header of [null, undefined, ""]) equal(await refusal(EVENT, header, SECRET), "missing");
    for (const header of [
      digest,
      `t=${NOW}`,
      `v1=${digest}`,
      `t=${NOW},t=${NOW},v1=${digest}`,
      `t=-1,v1=${digest}`,
      `t=${NOW},v1=${digest}00`,
      `t=${NOW},v1=${digest?.toUpperCase()}`,
      `${SIGNED},`,
      `${SIGNED},x=${"x".repeat(400)},y=${"y".repeat(400)},z=${"z".repeat(400)},a=${"a".repeat(400)},b=${"b".repeat(400)}`,
    ]) {
      equal(await refusal(EVENT, header, SECRET), "malformed");
    }
  },
  "secrets and bodies that cannot be such are the caller's mistake": async () => {
    const wrong = [
      ...["", [], [SECRET, ""], `${SECRET}\n`].map((secrets) => verify(EVENT, SIGNED, secrets)),
      verify("{}" as never, SIGNED, SECRET),
    ];
    for (const asked of wrong) equal((await thrown(asked))["name"], InvalidArguments.name);
  },
  "ids are encoded, undefined is left out and null is sent": async () => {
    const { client, sent } = scripted([data(AGENT)]);
    await client.agents.update({ id: "a?b ü", name: undefined, metadata: null });
    equal([sent[0]?.url, sent[0]?.body], ["http://service.test/v1/agents/a%3Fb%20%C3%BC", '{"metadata":null}']);
    await client.deployments.pause({ id: "dep_1" });
    equal([sent[1]?.body ?? null, sent[1]?.headers.get("content-type")], [null, null]);
  },
  "a base address and a key that cannot be one are refused without repeating them": async () => {
    const given: Partial<ClientOptions>[] = [
      ...["", "service.test/v1", "ftp://h", "http://me:secret@h/v1", "http://h/v1?secret=1", "http://h/v1#secret"].map(
        (baseUrl) => ({ baseUrl }),
      ),
      ...["", "a secret", "secret\n", "sécret"].map((apiKey) => ({ apiKey })),
      { beta: ["A"] },
      { beta: "ratelimit_fields" as never },
    ];
    for (const options of given) {
      let message = "nothing was thrown, secret";
      try {
        scripted([], options);
      } catch (error) {
        if (error instanceof InvalidArguments) message = error.message;
      }
      if (message.includes("secret")) throw new Error(JSON.stringify(options));
    }
  },
  "an address without a path gets the version and one with a path is kept": async () => {
    for (const [baseUrl, url] of [
      ["http://h", "http://h/v1/wallet"],
      ["http://h/", "http://h/v1/wallet"],
      ["http://h/api/v1//", "http://h/api/v1/wallet"],
    ]) {
      const { client, sent } = scripted([data({})], { baseUrl: baseUrl ?? "" });
      await client.wallet.get();
      equal(sent[0]?.url, url);
    }
  },
  "an operation that is going to be taken away is told of once": async () => {
    const headers = {
      Deprecation: "@1798761600",
      Sunset: "Sat, 01 Jan 2028 00:00:00 GMT",
      Link: '</x>; rel="next", <https://voice.example.com/v2>; rel="sunset"',
    };
    const { client, notices } = scripted([data({}, 200, headers), problem(400, "x", headers), data(AGENT, 200, headers)]);
    await client.wallet.get();
    await thrown(client.wallet.get());
    await client.agents.get({ id: "agt_1" });
    equal(
      notices.map((notice) => notice.message),
      ["get_wallet", "get_agent"].map(
        (name) => `${name} is deprecated since 2027-01-01 and ends on 2028-01-01; see https://voice.example.com/v2`,
      ),
    );
    equal(notices[0]?.sunset, "2028-01-01T00:00:00.000Z");
  },
  "bytes are given as they come, whole, in part, or not at all": async () => {
    const { client, sent } = scripted([new Response("abc"), new Response("b", { status: 206 }), new Response(null, { status: 304 })]);
    equal(await (await client.calls.getRecording({ call_uuid: "c" })).text(), "abc");
    equal(await (await client.calls.getRecording({ call_uuid: "c" }, { range: [1, 1] })).text(), "b");
    equal((await client.calls.getRecording({ call_uuid: "c" }, { ifNoneMatch: '"x"' })).status, 304);
    equal(sent.map((each) => each.headers.get("range")), [null, "bytes=1-1", null]);
    equal(sent[2]?.headers.get("if-none-match"), '"x"');
    equal(sent[0]?.headers.get("accept-encoding"), "identity");
  },
  "a lost connection says whether the request may have arrived": async () => {
    for (const [code, requestSent] of [["ECONNREFUSED", false], ["ECONNRESET", true]] as const) {
      const { client } = scripted([lost(code)], { retries: { attempts: 1 } });
      const error = await client.wallet.get().then(null, (found: unknown) => found);
      if (!(error instanceof ServiceUnreachable)) throw error;
      equal(error.requestSent, requestSent);
    }
  },
};

function late(): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error("it took too long")), 5_000));
}

program(async () => {
  const failed: Record<string, string> = {};
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      await Promise.race([check(), late()]);
    } catch (error) {
      failed[name] = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  }
  return { checks: Object.keys(CHECKS).length, failed };
});
