// What every program of these tests stands on: it reads what is asked from a file, and prints what it saw as JSON.

import { CallwrightError } from "../../clients/typescript/src/index.ts";

declare const process: {
  argv: string[];
  stdout: { write(text: string, done: () => void): void };
  stderr: { write(text: string): void };
  exit(status: number): never;
};

const LIMIT_MS = 50_000;

/** Runs a program. The second argument of the command is the path of a JSON file that holds what is asked. */
export function program<Asked>(body: (asked: Asked) => Promise<unknown>): void {
  const limit = setTimeout(() => {
    process.stderr.write("the program took too long\n");
    process.exit(3);
  }, LIMIT_MS);
  const run = async (): Promise<unknown> => {
    const { default: asked } = (await import(`file://${process.argv[2]}`, { with: { type: "json" } })) as {
      default: Asked;
    };
    return await body(asked);
  };
  run().then(
    (seen) => {
      clearTimeout(limit);
      process.stdout.write(JSON.stringify(seen ?? null), () => process.exit(0));
    },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
}

/** The error that something must end in, as JSON. */
export async function thrown(doing: PromiseLike<unknown>): Promise<Record<string, unknown>> {
  try {
    await doing;
  } catch (error) {
    if (!(error instanceof CallwrightError)) throw error;
    const { name, message, status, code, type, field, errors, requestId, retryAfter, actionUrl, retryable } = error;
    const resetsAt = error.resetsAt?.toISOString();
    return { name, message, status, code, type, field, errors, requestId, retryAfter, actionUrl, resetsAt, retryable };
  }
  throw new Error("nothing was thrown");
}
