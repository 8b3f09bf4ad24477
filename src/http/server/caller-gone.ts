/** Why a request was aborted when nobody is left to answer to. */
export class CallerGone extends Error {
  constructor() {
    super('The caller went away');
    this.name = 'CallerGone';
  }
}
