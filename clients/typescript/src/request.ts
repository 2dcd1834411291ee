// From an operation and its input to what travels: method, path, query, body, headers. No I/O.

import { InvalidArguments } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** One request, below the version prefix. Sending it again sends the same. */
export interface WireRequest {
  operation: string;
  method: string;
  target: string;
  body: string | undefined;
  headers: Record<string, string>;
  /** Whether serving it twice has the effect of serving it once. */
  repeatable: boolean;
  media: boolean;
}

/** What travels for an operation. Fields that are undefined are not sent; null is, in a body. */
export function wireRequest(operation: Operation<never, unknown>, input: object, key?: string): WireRequest {
  const left = new Map<string, unknown>(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.get(name);
    left.delete(name);
    return segment(operation.name, name, value);
  });
  const query: string[] = [];
  for (const [name, wireName] of Object.entries(operation.query)) {
    const value = left.get(name);
    left.delete(name);
    if (value !== undefined && value !== null) {
      query.push(`${encodeURIComponent(wireName)}=${encodeURIComponent(queryText(operation.name, name, value))}`);
    }
  }
  if (!operation.hasBody && left.size > 0) {
    throw new InvalidArguments(`${operation.name}: there is no field ${[...left.keys()].join(", ")}`);
  }
  const headers: Record<string, string> = {};
  if (operation.hasBody) headers["Content-Type"] = "application/json";
  if (key !== undefined) headers["Idempotency-Key"] = checkedKey(operation, key);
  if (operation.shape === "media") {
    headers["Accept"] = [...operation.mediaTypes, "application/json"].join(", ");
    headers["Accept-Encoding"] = "identity";
  }
  return {
    operation: operation.name,
    method: operation.method,
    target: query.length > 0 ? `${path}?${query.join("&")}` : path,
    body: operation.hasBody ? JSON.stringify(Object.fromEntries(left)) : undefined,
    headers,
    repeatable: ["GET", "PUT"].includes(operation.method) || (operation.method === "POST" && key !== undefined),
    media: operation.shape === "media",
  };
}

/** The header of a range: the first and the last byte, both counted from 0 and both included; no last one: to the end. */
export function rangeHeader([first, last]: readonly [number, number?]): string {
  const fits = Number.isSafeInteger(first) && first >= 0;
  if (!fits || (last !== undefined && !(Number.isSafeInteger(last) && last >= first))) {
    throw new InvalidArguments("range must be the first and the last byte, counted from 0");
  }
  return `bytes=${first}-${last ?? ""}`;
}

/** The header that switches beta features on, or nothing where none is named. */
export function betaHeaders(features: readonly string[]): Record<string, string> {
  if (!Array.isArray(features) || features.length > 20 || !features.every((name) => /^[a-z0-9_]{1,40}$/.test(name))) {
    throw new InvalidArguments("beta must be at most 20 names in lower-case letters, digits and underscores");
  }
  return features.length > 0 ? { "X-Service-Beta": `enable=${features.join(",")}` } : {};
}

function segment(operation: string, name: string, value: unknown): string {
  // Encoding is not enough for these: an empty or dotted segment is folded away on the road, and %2F is often decoded
  // before the route is looked for. Either way the request would reach another path.
  if (typeof value !== "string" || value === "" || value === "." || value === ".." || value.includes("/")) {
    throw new InvalidArguments(`${operation}: ${name} must be a text that is not empty, '.' or '..' and has no '/'`);
  }
  return encodeURIComponent(value);
}

function queryText(operation: string, name: string, value: unknown): string {
  if (!Array.isArray(value)) return value instanceof Date ? value.toISOString() : String(value);
  const parts = value.map((part) => queryText(operation, name, part));
  if (parts.length === 0 || parts.some((part) => part === "" || part.includes(","))) {
    throw new InvalidArguments(`${operation}: ${name} needs entries, none of them empty or with a comma`);
  }
  return parts.join(",");
}

function checkedKey(operation: Operation<never, unknown>, key: string): string {
  if (operation.method !== "POST") {
    throw new InvalidArguments(`${operation.name}: only a POST takes an idempotency key`);
  }
  if (!/^[!-~]{1,255}$/.test(key)) {
    throw new InvalidArguments("the idempotency key must be 1 to 255 visible ASCII characters");
  }
  return key;
}
