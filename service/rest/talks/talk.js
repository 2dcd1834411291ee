"use strict";
const RATE = 16000;
const MOST_UNSENT = 50;
const REASONS = {
  4401: "This link was used already, or is older than a minute. Ask for a new one.",
  4486: "The number is busy.",
  4487: "Nobody answers this number now.",
  4503: "No line is free now. Ask for a new link in a moment.",
  1006: "The connection was lost.",
};
const ENDS = {
  contact_hangup: "You have hung up.",
  agent_hangup: "The agent has hung up.",
  normal_clearing: "The talk is over.",
  inactivity_timeout: "Nothing was said for long, so the agent has hung up.",
  max_duration: "The longest time of a talk has passed.",
  transfer_failed: "Nobody could take the call.",
  transfer_completed: "The call was handed over.",
  call_rejected: "Nobody answers this number any more.",
  user_busy: "All lines are busy.",
  no_audio: "No sound came from your microphone.",
};
const at = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const call = location.pathname.split("/").pop();
const hasDashboard = new URLSearchParams(location.search).has("dashboard"); // the person came from there
const PATIENCE_MS = 2000;
const unsent = []; // what was typed before the talk is connected
let socket, context, microphone, speaker, isTalking = false, isHeard = false, isOver = false;

function show(text, tone) {
  at("state").textContent = text;
  at("state").dataset.tone = tone;
}

function caption(role, text) {
  const entry = document.createElement("li"), who = document.createElement("b");
  who.textContent = role === "agent" ? "Agent" : "You";
  entry.className = role === "agent" ? "agent" : "you";
  entry.append(who, text);
  at("captions").append(entry);
  entry.scrollIntoView({ block: "nearest" });
}

function tool(name, isOk) {
  const entry = document.createElement("li");
  entry.className = "tool";
  entry.textContent = `${name} ${isOk ? "was called" : "failed"}`;
  at("captions").append(entry);
  entry.scrollIntoView({ block: "nearest" });
}

function note(text) {
  at("notice").textContent = text;
  at("notice").hidden = false;
}

// A talk that never began leaves nothing to see but why: neither what was said nor anything to press.
function over(why, tone) {
  if (isOver) return;
  isOver = true;
  show(isTalking ? "Ended" : "Not opened", tone);
  at("said").textContent = why;
  at("kept").hidden = !isTalking || hasDashboard;
  at("command").textContent = `callwright calls get-transcript ${call}`;
  at("call").href = `../calls/${call}`;
  at("back").hidden = !hasDashboard;
  at("before").hidden = at("controls").hidden = true;
  at("during").hidden = !isTalking;
  at("after").hidden = false;
  if (microphone) microphone.getTracks().forEach((track) => track.stop());
  // What the agent said last is still in the speaker.
  setTimeout(() => context && context.close(), 3000);
  if (socket) socket.close();
}

function heard(message) {
  if (message.type === "clear") speaker.port.postMessage("clear");
  else if (message.type === "caption") caption(message.role, message.text);
  else if (message.type === "tool") tool(message.name, message.is_ok);
  else if (message.type === "latency") {
    at("latency").textContent = `answered in ${(message.total_ms / 1000).toFixed(1)} s`;
    at("latency").hidden = false;
  } else if (message.type === "ended") over(ENDS[message.cause] || `The talk has ended: ${message.cause}.`, "quiet");
}

function send(message) {
  if (isHeard && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else if (!isOver && unsent.length < MOST_UNSENT) unsent.push(message);
}

function sendAll() {
  isHeard = true;
  unsent.splice(0).forEach(send);
}

async function begin() {
  at("begin").disabled = true;
  context = new AudioContext();
  await context.audioWorklet.addModule("/talk/sound.js");
  const options = { processorOptions: { rate: RATE } };
  const ear = new AudioWorkletNode(context, "ear", { ...options, numberOfOutputs: 0 });
  speaker = new AudioWorkletNode(context, "speaker", { ...options, numberOfInputs: 0, outputChannelCount: [1] });
  speaker.connect(context.destination);
  try {
    microphone = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
    context.createMediaStreamSource(microphone).connect(ear);
    at("meter").hidden = false;
  } catch (error) { // the ear hears silence then, and the person types
    const denied = error.name === "NotAllowedError";
    note(denied ? "The browser may not use the microphone: type what you say." : "There is no microphone: type what you say.");
  }
  at("before").hidden = true;
  at("during").hidden = false;
  show("Connecting", "quiet");
  setTimeout(() => { at("waiting").hidden = isTalking; }, PATIENCE_MS);
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}${location.pathname}`, ["callwright.talk", token]);
  socket.binaryType = "arraybuffer";
  // An agent without a welcome message says nothing first.
  socket.onopen = () => setTimeout(sendAll, 5000);
  socket.onmessage = ({ data }) => {
    if (typeof data === "string" && JSON.parse(data).type === "hears") {
      note("Speech is not understood here: type what you say, or use the keypad.");
      return;
    }
    if (!isTalking) {
      isTalking = true;
      at("waiting").hidden = true;
      show("Talking", "good");
      sendAll();
    }
    if (typeof data === "string") heard(JSON.parse(data));
    else speaker.port.postMessage(data, [data]);
  };
  socket.onclose = ({ code }) => over(REASONS[code] || "The talk is over.", REASONS[code] ? "bad" : "quiet");
  ear.port.onmessage = ({ data }) => {
    at("level").style.width = `${Math.min(100, Math.round(data.level * 400))}%`;
    if (socket.readyState === WebSocket.OPEN && !isOver && socket.bufferedAmount < 64000) socket.send(data.sound);
  };
}

for (const key of "123456789*0#") {
  const button = document.createElement("button");
  button.textContent = key;
  button.type = "button";
  button.onclick = () => send({ type: "keys", digits: key });
  at("keys").append(button);
}
at("begin").onclick = begin;
at("hang-up").onclick = () => {
  send({ type: "hang_up" });
  over(ENDS.contact_hangup, "quiet");
};
at("typed").onsubmit = (event) => {
  event.preventDefault();
  const text = at("words").value.trim();
  if (text) send({ type: "text", text });
  at("words").value = "";
};
if (!token) over("The link is not whole: the part behind # is missing.", "bad");
history.replaceState(null, "", location.pathname); // the token opens the talk once, and is of no use in a history
