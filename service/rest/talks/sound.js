// Sound to and from the page's speaker and microphone: the browser's rate outside, 16 kHz signed 16 bit inside.
"use strict";
const FRAME = 320; // 20 ms
const SILENCE = new Float32Array(128); // where there is no microphone

// Averages the samples that fall into one of the slower rate, so that high tones do not fold back.
class Ear extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.step = sampleRate / processorOptions.rate;
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.sum = 0;
    this.count = 0;
    this.left = this.step;
    this.loudest = 0;
  }

  process([input]) {
    for (const sample of input[0] || SILENCE) {
      this.sum += sample;
      this.count += 1;
      this.left -= 1;
      if (this.left > 0) continue;
      this.left += this.step;
      this.put(this.sum / this.count);
      this.sum = this.count = 0;
    }
    return true;
  }

  put(value) {
    this.loudest = Math.max(this.loudest, Math.abs(value));
    this.frame[this.filled++] = Math.max(-1, Math.min(1, value)) * 32767;
    if (this.filled < FRAME) return;
    const sound = this.frame.buffer;
    this.port.postMessage({ sound, level: this.loudest }, [sound]);
    this.frame = new Int16Array(FRAME);
    this.filled = this.loudest = 0;
  }
}

class Speaker extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.step = processorOptions.rate / sampleRate;
    this.waiting = [];
    this.place = 0;
    this.port.onmessage = ({ data }) => {
      if (data === "clear") {
        this.waiting = [];
        this.place = 0;
      } else if (this.waiting.length < 3000) this.waiting.push(new Int16Array(data));
    };
  }

  process(_, [[output]]) {
    for (let index = 0; index < output.length && this.waiting.length; index += 1) {
      const frame = this.waiting[0], before = Math.floor(this.place), part = this.place - before;
      const after = before + 1 < frame.length ? frame[before + 1] : frame[before];
      output[index] = (frame[before] * (1 - part) + after * part) / 32768;
      this.place += this.step;
      if (this.place >= frame.length) {
        this.place -= frame.length;
        this.waiting.shift();
      }
    }
    return true;
  }
}

registerProcessor("ear", Ear);
registerProcessor("speaker", Speaker);
