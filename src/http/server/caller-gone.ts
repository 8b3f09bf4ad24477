/** The reason of an abort because the caller has closed its connection. */
export class CallerGone extends Error {
  constructor() {
    super('The caller went away');
    this.name = 'CallerGone';
  }
}
