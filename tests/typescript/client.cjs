// One visit of a TypeScript client: it connects, lists, calls a tool, reads a transcript and a recording, and says as
// JSON what it saw. Argument: {home, version, transport, era, url, key, command, args, env, callId}.
const { createRequire } = require("node:module");

const asked = JSON.parse(process.argv[2]);
const packages = createRequire(`${asked.home}/package.json`);

function parts() {
  if (asked.version === 1) {
    return {
      ...packages("@modelcontextprotocol/sdk/client/index.js"),
      ...packages("@modelcontextprotocol/sdk/client/stdio.js"),
      ...packages("@modelcontextprotocol/sdk/client/streamableHttp.js"),
      ...packages("@modelcontextprotocol/sdk/client/sse.js"),
    };
  }
  return { ...packages("@modelcontextprotocol/client"), ...packages("@modelcontextprotocol/client/stdio") };
}

function transport(found) {
  const headers = { Authorization: `Bearer ${asked.key}` };
  switch (asked.transport) {
    case "stdio":
      return new found.StdioClientTransport({
        command: asked.command,
        args: asked.args,
        env: asked.env,
        stderr: "inherit",
      });
    case "http":
      return new found.StreamableHTTPClientTransport(new URL(`${asked.url}/mcp`), { requestInit: { headers } });
    case "sse":
      return new found.SSEClientTransport(new URL(`${asked.url}/sse`), {
        requestInit: { headers },
        eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...headers } }) },
      });
    default:
      throw new Error(`no transport ${asked.transport}`);
  }
}

async function visit() {
  const found = parts();
  const options = { capabilities: {} };
  if (asked.version === 2 && asked.era === "modern") options.versionNegotiation = { mode: { pin: "2026-07-28" } };
  const client = new found.Client({ name: "visitor", version: "1.0.0" }, options);
  await client.connect(transport(found));
  const call = `callwright://calls/${asked.callId}`;
  const seen = {
    tools: (await client.listTools()).tools.map((tool) => tool.name),
    templates: (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
    prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
    call: await client.callTool({ name: "get_call", arguments: { call_uuid: asked.callId } }),
    refused: await client.callTool({ name: "get_call", arguments: { call_uuid: "cal_00000000000000000000000000" } }),
    transcript: (await client.readResource({ uri: `${call}/transcript` })).contents[0],
    recording: (await client.readResource({ uri: `${call}/recording` })).contents[0],
  };
  await client.close();
  return seen;
}

const limit = setTimeout(() => {
  process.stderr.write("the visit took too long\n");
  process.exit(3);
}, 50_000);
visit().then(
  (seen) => {
    clearTimeout(limit);
    process.stdout.write(JSON.stringify(seen), () => process.exit(0));
  },
  (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(1);
  },
);
