// Uses the service from the first agent to the last call, every operation of it, as a program of a person would.

import { Client, Conflict } from "../../clients/typescript/src/index.ts";
import { program, thrown } from "./program.mts";

program(async ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    asked.push(`${init?.method} ${new URL(String(url)).pathname}`);
    return globalThis.fetch(url, init);
  };
  const client = new Client({ baseUrl, apiKey, fetch });
  const once = async <T extends { status: string }>(done: T["status"], look: () => Promise<T>): Promise<T> => {
    for (let looks = 0; looks < 500; looks += 1) {
      const found = await look();
      if (found.status === done) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`it never was ${done}: ${JSON.stringify(await look())}`);
  };

  const voice = (await client.voices.list({ language: "en-US", per_page: 1 })).data[0];
  if (voice === undefined) throw new Error("there is no voice");
  await client.voices.get({ id: voice.id });
  const sample = await client.voices.getPreview({ id: voice.id });
  const preview = await sample.arrayBuffer();

  const talker = { voice_id: voice.id, language: "en-US", system_prompt: "Ask {{first_name}} whether they come." };
  const agent = await client.agents.create({ name: "Ada", ...talker, metadata: { team: "front desk" } });
  const spare = await client.agents.create({ name: "Bob", ...talker });
  await client.agents.update({ id: agent.id, welcome_message: "Hello {{first_name}}." });
  const { welcome_message: welcome } = await client.agents.get({ id: agent.id });
  const versions = (await client.agents.listVersions({ id: agent.id })).data.map((each) => each.version);
  const asks = { type: "http" as const, name: "free_times", description: "Free times.", url: "https://example.com/free" };
  await client.agents.setCallTools({ id: agent.id, call_tools: [{ ...asks, secret_headers: ["Authorization"] }] });
  const toolSecret = { tool: "free_times", header: "Authorization", value: "Bearer 0123456789abcdef" };
  const toolKept = await client.agents.setCallToolSecret({ id: agent.id, ...toolSecret });
  await client.agents.setCallTools({ id: agent.id, call_tools: [] });
  const deleted = await client.agents.delete({ id: spare.id });
  const ours = await client.providers.set({ name: "ours", kind: "openai", key: "sk-0123456789abcdef" });
  await client.agents.update({ id: agent.id, model: { provider: "ours" } });
  const used = await thrown(client.providers.remove({ name: "ours" }));
  await client.agents.update({ id: agent.id, model: null });
  const providers = (await client.providers.list()).data.map((each) => [each.name, each.key_ends_with]);
  await client.providers.remove({ name: "ours" });
  const agents = (await client.agents.list({ language: ["en-US"] })).data.map((each) => each.name);

  const person = { phone_number: "+12025550100", first_name: "Maria" };
  const audience = await client.audiences.create({ name: "Patients", default_country: "US", rows: [person] });
  const added = await client.audiences.addRows({
    id: audience.id,
    rows: [
      { phone_number: "+12025550103", first_name: "Chen" },
      { phone_number: "12", first_name: "Tom" },
    ],
  });
  const csv = "phone_number,first_name\n+12025550104,Olga\n+1234,Tim\n";
  const begun = await client.audiences.importCsv({ id: audience.id, csv });
  const importing = { id: audience.id, import_id: begun.id };
  const imported = await once("completed_with_errors", () => client.audiences.getImport(importing));
  const faults = (await client.audiences.listImportErrors(importing)).data;
  const rows: unknown[] = [];
  for await (const row of client.audiences.listRows({ id: audience.id, per_page: 1 })) rows.push(row.values["first_name"]);
  await client.audiences.update({ id: audience.id, description: "This week." });
  await client.audiences.get({ id: audience.id });
  await client.audiences.list({ name: "Patients" });
  await client.audiences.delete({ id: (await client.audiences.create({ name: "Nobody" })).id });

  const wanted = (await client.phoneNumbers.searchAvailable({ country: "US", per_page: 1 })).data[0];
  if (wanted === undefined) throw new Error("there is no number");
  const number = await client.phoneNumbers.rent({ country: "US", number: wanted.number });
  await client.phoneNumbers.update({ id: number.id, label: "Front desk" });
  const { label } = await client.phoneNumbers.get({ id: number.id });
  const unused = await client.phoneNumbers.rent({ country: "US" });
  const released = (await client.phoneNumbers.release({ id: unused.id })).status;
  await client.phoneNumbers.list({ status: ["active"] });
  const owned = await client.phoneNumbers.importOwned({ number: "+12125550191" });
  await client.phoneNumbers.setInboundRouting({ id: number.id, url: "https://hooks.invalid/who-answers" });
  const { outcome: routed } = await client.phoneNumbers.testInboundRouting({ id: number.id });
  const questions = (await client.phoneNumbers.listRoutingRequests({ id: number.id, failed: true })).data.length;
  await client.phoneNumbers.removeInboundRouting({ id: number.id });
  const talk = await client.agents.talk({ id: agent.id, variables: { first_name: "Ada", day: "Monday" } });

  const parts = { agent_id: agent.id, audience_id: audience.id, phone_number_ids: [number.id] };
  const { id: campaign } = await client.deployments.create({ name: "Check-ups", ...parts, retry_policy: { max_attempts: 1 } });
  await client.deployments.update({ id: campaign, budget_cap: { amount: "5.00" } });
  const plan = await client.deployments.preview({ id: campaign });
  await client.deployments.start({ id: campaign, plan_id: plan.plan_id });
  const deployment = await once("completed", () => client.deployments.get({ id: campaign }));
  const contacts = (await client.deployments.listContacts({ id: campaign })).pagination.total;
  const file = await (await client.deployments.export({ id: campaign, of: "contacts" })).text();
  await client.deployments.list({ status: ["completed"], sort: "-created_at,name" });
  const draft = await client.deployments.create({ name: "Never", ...parts });
  const refusals = [
    await thrown(client.deployments.pause({ id: draft.id })),
    await thrown(client.deployments.resume({ id: draft.id })),
  ];
  const cancelled = (await client.deployments.cancel({ id: draft.id })).status;
  const attested = { purpose: "marketing", consent_attested: true } as const;
  const offers = await client.deployments.create({ name: "Offers", ...parts, compliance: attested });
  await client.deployments.start({ id: offers.id });
  const [open] = (await client.complianceReviews.list({ subject_id: offers.id })).data;
  if (open === undefined) throw new Error("nothing is reviewed");
  const { category } = await client.complianceReviews.get({ id: open.id });
  const review = [category, (await client.complianceReviews.decide({ id: open.id, decision: "reject" })).status];
  await client.deployments.cancel({ id: offers.id });
  const copied = await client.deployments.create({ name: "Unused", ...parts });
  await client.deployments.delete({ id: (await client.deployments.clone({ id: copied.id, name: "Copy" })).id });
  await client.deployments.delete({ id: copied.id });
  const reception = { name: "Reception", agent_id: agent.id, phone_number_id: number.id };
  const inbound = await client.deployments.createInbound(reception);
  const coming = (await client.phoneNumbers.simulateCall({ id: number.id, caller: "+12065550111" })).count;
  const link = (await client.phoneNumbers.talk({ id: number.id })).deployment_id === inbound.id;

  const calls = (await client.calls.list({ outcome: ["answered"], deployment_id: [campaign] })).data;
  const call = calls[0];
  if (call === undefined) throw new Error("nobody answered");
  const { from } = await client.calls.get({ call_uuid: call.id });
  const { rules_version } = await client.calls.getEvidence({ call_uuid: call.id });
  const proven = (await client.deployments.listEvidence({ id: call.deployment_id ?? "", per_page: 1 })).data.length;
  const { turns } = await client.calls.getTranscript({ call_uuid: call.id, per_page: 2 });
  refusals.push(await thrown(client.calls.hangUp({ call_uuid: call.id })));
  refusals.push(await thrown(client.calls.resolve({ call_uuid: call.id, placed: true })));
  const { correction } = await client.calls.correctDisposition({ call_uuid: call.id, disposition: "interested", note: "heard" });
  const question = { tool: "start_deployment", about: "0".repeat(64), question: "Call 3 people?", mark: "0a1b2c3d" };
  const waiting = (await client.confirmations.ask(question)).status;
  const whole = await client.calls.getRecording({ call_uuid: call.id, format: "mp3" });
  const sound = new Uint8Array(await whole.arrayBuffer());
  const part = await client.calls.getRecording({ call_uuid: call.id, format: "mp3" }, { range: [2, 5] });
  const etag = whole.headers.get("etag") ?? "";
  const same = await client.calls.getRecording({ call_uuid: call.id, format: "mp3" }, { ifNoneMatch: etag });
  const beyond = await thrown(client.calls.getRecording({ call_uuid: call.id }, { range: [10 ** 9] }));
  const matches = (await client.transcripts.search({ query: "Hello", per_page: 1 })).pagination.total;
  const stats = await client.calls.stats({ group_by: ["outcome"] });
  const conversations = await client.calls.readConversations({ view: "distinct_turns" });
  const placed = await client.calls.place({
    agent_id: call.agent_id,
    phone_number_id: call.phone_number_id ?? "",
    to: "+12025550113",
    variables: { first_name: "Ada" },
    auto_start: false,
  });
  const callee = { number: "+12025550113" };
  const known = await client.people.export(callee);
  const gone = await client.people.delete({ ...callee, confirm: true });
  const overview = await client.overview.get();
  const [entry] = (await client.auditLog.list({ action: "place_call", per_page: 1 })).data;
  const { entries: kept } = await client.doNotCall.add({ entries: [{ number: "+12025550142" }] });
  const { refused: left } = await client.doNotCall.importCsv({ csv: "phone\n12\n" });
  const keptId = (await client.doNotCall.get({ id: kept[0]?.id ?? "" })).id;
  const exported = await (await client.doNotCall.export()).text();
  await client.doNotCall.remove({ id: keptId });
  const listed = (await client.doNotCall.list({ simulated: false })).data.length;
  const charges = (await client.wallet.listTransactions({ type: ["call_charge"] })).data.length;
  await client.wallet.update({ low_balance_threshold: { amount: "5.00" } });
  const wallet = await client.wallet.get();

  const webhook = await client.webhooks.create({ url: "https://events.invalid/hook", events: ["webhook.test"] });
  const { secret } = await client.webhooks.rotateSecret({ id: webhook.id });
  const trial = await client.webhooks.test({ id: webhook.id });
  const sent = { id: webhook.id, delivery_id: trial.id };
  const { attempts } = await once("failed", () => client.webhooks.getDelivery(sent));
  const tried = await client.events.get({ id: trial.event_id });
  const why = await client.events.explain({ id: tried.id });
  const again = await client.events.replay({ id: tried.id, webhook_id: webhook.id });
  const counts = [
    (await client.events.list({ type: ["webhook.test"] })).data.length,
    (await client.events.listDeliveries({ id: tried.id })).data.length,
    (await client.webhooks.listDeliveries({ id: webhook.id, cause: ["replay"] })).data.length,
    (await client.webhooks.list({ status: ["active"] })).data.length,
  ];
  const replayed = await client.webhooks.replay({ id: webhook.id, statuses: ["missed"] });
  await client.webhooks.update({ id: webhook.id, status: "disabled" });
  const { disabled_reason: disabled } = await client.webhooks.get({ id: webhook.id });
  await client.webhooks.delete({ id: webhook.id });

  return {
    asked,
    corrected: correction?.note,
    waiting,
    owned: [owned.provider, owned.simulated],
    talk: talk.url.split("#")[1]?.startsWith("tlk_"),
    newSecret: secret !== webhook.secret,
    attempts: attempts.map((attempt) => attempt.outcome),
    arrival: why.webhooks.map((each) => each.arrival),
    queued: [again.queued, replayed.queued],
    counts,
    disabled,
    preview: preview.byteLength > 1_000,
    welcome,
    deleted: deleted === undefined,
    providers,
    used: used["code"],
    hasKey: ours.has_key,
    agents,
    versions,
    kept: toolKept,
    added: { added: added.added, invalid: added.invalid },
    imported: imported.status,
    faults: faults.map((fault) => fault.code),
    rows,
    label,
    released,
    routed: [routed !== "succeeded", questions],
    status: deployment.status,
    contacts,
    cancelled,
    review,
    inbound: [inbound.call_type, coming, link],
    refused: refusals.map(({ name, code }) => (name === Conflict.name ? code : name)),
    from: from === number.number,
    turns: turns.length,
    evidence: [rules_version !== null, proven],
    part: [part.status, [...new Uint8Array(await part.arrayBuffer())].join() === sound.slice(2, 6).join()],
    same: same.status,
    beyond: [beyond["status"], beyond["code"]],
    matches: matches > 0,
    stats: stats.calls > 0,
    conversations: conversations.calls > 0,
    placed: placed.status,
    person: [known.counts.audience_rows, gone.deleted.audience_rows, gone.complete],
    overview: overview.deployments.total > 0,
    entry: entry?.subject_id === placed.id,
    doNotCall: [left, listed, exported.includes("+12025550142")],
    charges: charges > 0,
    file: file.trimEnd().split("\r\n").length,
    currency: wallet.balance.currency,
  };
});
