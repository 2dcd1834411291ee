// A microphone that hears what the test lets it hear: window.say(samples of 16 bits at 16 kHz, in Base64).
"use strict";
navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext();
  const heard = context.createMediaStreamDestination();
  window.say = async (base64) => {
    const pcm = new Int16Array(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer);
    const sound = context.createBuffer(1, pcm.length, 16000);
    sound.copyToChannel(Float32Array.from(pcm, (sample) => sample / 32768), 0);
    const source = context.createBufferSource();
    source.buffer = sound;
    source.connect(heard);
    const over = new Promise((ended) => { source.onended = ended; });
    source.start();
    await over;
  };
  return heard.stream;
};
