// Receiving events: whether a request that claims to bring one comes from the service, and what it says.

import { InvalidArguments, InvalidSignature, UnexpectedAnswer } from "./errors.ts";

/** What every event is wrapped in. */
export interface ReceivedEvent {
  id: string;
  type: string;
  /** When it was generated, with milliseconds. */
  created_at: string;
  org_id: string;
  data: Record<string, unknown>;
}

export interface VerifyOptions {
  /** How far off the time of a signature may be, in seconds, before and after now; 300 by default. */
  toleranceSeconds?: number;
  /** The moment in seconds since the epoch; the machine's clock tells it by default. */
  now?: number;
}

const HEADER = "X-Service-Signature";
const TOLERANCE_S = 300;
const MOST_HEADER_CHARACTERS = 2_000;
const ITEM = /^([A-Za-z0-9_-]{1,40})=([!-~]{0,500})$/;

/**
 * The event that a request brings, once its signature is found to be the service's.
 *
 *     const body = new Uint8Array(await request.arrayBuffer());
 *     const event = await verify(body, request.headers.get("X-Service-Signature"), secret);
 *
 * `body` is what came over the wire, byte for byte: JSON that was parsed and written again has another signature. `secrets`
 * is the subscription's secret (`whsec_…`), or several while it is being replaced. Throws `InvalidSignature`, to be
 * answered with 401, whose `reason` and message say why; neither holds a secret.
 */
export async function verify(
  body: Uint8Array | ArrayBuffer,
  signature: string | null | undefined,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<ReceivedEvent> {
  const keys = typeof secrets === "string" ? [secrets] : [...secrets];
  if (keys.length === 0 || keys.some((key) => typeof key !== "string" || key === "" || key !== key.trim())) {
    throw new InvalidArguments(
      "secrets: must be the secret of the subscription (whsec_…), or a list of such; none is empty or has white space around it",
    );
  }
  if (!(body instanceof Uint8Array || body instanceof ArrayBuffer)) {
    throw new InvalidArguments("body: must be the bytes as they came, before any decoding or parsing");
  }
  const bytes = new Uint8Array(body);
  const { seconds, digests } = read(signature);
  const start = new TextEncoder().encode(`${seconds}.`);
  const signed = new Uint8Array(start.length + bytes.length);
  signed.set(start);
  signed.set(bytes, start.length);
  if (!(await fits(signed, keys, digests))) {
    throw new InvalidSignature(
      "no_match",
      "no signature fits the body and the secret. Pass the raw bytes of the request, not JSON that was parsed and " +
        "written again, and the secret of this subscription; while it is being replaced, the old one as well",
    );
  }
  checkTime(Number(seconds), options);
  return eventOf(bytes);
}

/** Compares every digest with every secret, each in constant time. */
async function fits(signed: Uint8Array<ArrayBuffer>, keys: string[], digests: Uint8Array<ArrayBuffer>[]): Promise<boolean> {
  let found = false;
  for (const secret of keys) {
    const key = new TextEncoder().encode(secret);
    const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const digest of digests) {
      if (await crypto.subtle.verify("HMAC", imported, digest, signed)) found = true;
    }
  }
  return found;
}

function read(signature: string | null | undefined): { seconds: string; digests: Uint8Array<ArrayBuffer>[] } {
  if (!signature) throw new InvalidSignature("missing", `the request has no header ${HEADER}: it is not from the service`);
  if (signature.length > MOST_HEADER_CHARACTERS) throw malformed(`it has more than ${MOST_HEADER_CHARACTERS} characters`);
  const items = signature.split(",").map((part) => ITEM.exec(part.replace(/^ +| +$/g, "")));
  const values = (name: string): string[] => items.flatMap((item) => (item?.[1] === name ? [item[2] ?? ""] : []));
  if (items.includes(null)) throw malformed("a part of it is no name=value");
  const [seconds, ...others] = values("t");
  if (seconds === undefined || others.length > 0 || !/^[0-9]{1,12}$/.test(seconds)) {
    throw malformed("it must hold t=, the Unix time in seconds, and that once");
  }
  const digests = values("v1");
  if (digests.length === 0 || digests.some((digest) => !/^[0-9a-f]{64}$/.test(digest))) {
    throw malformed("it must hold v1= with 64 hexadecimal digits in lower case");
  }
  return { seconds, digests: digests.map(bytesOf) };
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, place) => Number.parseInt(hex.slice(place * 2, place * 2 + 2), 16));
}

function malformed(why: string): InvalidSignature {
  return new InvalidSignature("malformed", `the header ${HEADER} is not of the service's form: ${why}`);
}

function checkTime(seconds: number, { toleranceSeconds = TOLERANCE_S, now = Date.now() / 1000 }: VerifyOptions): void {
  const late = now - seconds;
  if (late > toleranceSeconds) {
    throw new InvalidSignature(
      "too_old",
      `it was signed ${late.toFixed(0)} s ago, and ${toleranceSeconds} s are allowed. Where this happens to every event, ` +
        "this machine's clock is fast, or requests wait too long; else somebody sent an old request again",
    );
  }
  if (-late > toleranceSeconds) {
    throw new InvalidSignature(
      "too_new",
      `it was signed ${(-late).toFixed(0)} s in the future, and ${toleranceSeconds} s are allowed: the clock here is slow`,
    );
  }
}

function eventOf(bytes: Uint8Array): ReceivedEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isEvent(event)) return event;
  } catch {
    // It is said below.
  }
  throw new UnexpectedAnswer("the body is signed and is no event");
}

function isEvent(value: unknown): value is ReceivedEvent {
  if (typeof value !== "object" || value === null) return false;
  const event = value as Record<string, unknown>;
  const texts = [event["id"], event["type"], event["created_at"], event["org_id"]];
  return texts.every((text) => typeof text === "string") && typeof event["data"] === "object" && event["data"] !== null;
}
