/** Splits the text of an event stream into the data of its events. Feed it pieces as they come. */
export class EventStreamReader {
  #rest = '';

  /** The JSON of the events that a piece completes. `[DONE]` and comments are left out. */
  push(piece: string): unknown[] {
    const blocks = (this.#rest + piece).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap(dataOf);
  }
}

function dataOf(block: string): unknown[] {
  const data = block
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim())
    .join('\n');
  return data === '' || data === '[DONE]' ? [] : [JSON.parse(data) as unknown];
}
