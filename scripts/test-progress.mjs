/** Interval of the lines that a run of the whole suite prints, milliseconds. */
const EVERY_MS = 15_000;

/** A reporter of vitest beside its own: prints how many test files are done. */
export default class TestProgress {
  #files = 0;
  #done = 0;
  #failed = 0;
  #startedMs = 0;
  #timer;

  onTestRunStart(specifications) {
    this.#files = specifications.length;
    this.#startedMs = performance.now();
    this.#timer = setInterval(() => this.#print(), EVERY_MS).unref();
  }

  onTestModuleEnd(module) {
    this.#done += 1;
    if (!module.ok()) this.#failed += 1;
  }

  onTestRunEnd() {
    clearInterval(this.#timer);
    this.#print();
  }

  #print() {
    const seconds = Math.round((performance.now() - this.#startedMs) / 1000);
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    console.error(`signalbox: ${this.#done} of ${this.#files} test files after ${seconds} s${failed}`);
  }
}
