import type { Event } from '../../ir/events.ts';
import type { Annotation, Ext, Logprobs, Part } from '../../ir/items.ts';
import { compact } from '../../kit/json/members.ts';

/** What a text part holds besides its text. */
interface Draft {
  readonly annotations: Annotation[];
  readonly logprobs: Logprobs[number][];
  ext: Ext | undefined;
}

/**
 * Gathers what belongs to each text part while it is written, so that its end can show it alone: an item may have so
 * many parts that it cannot be shown whole at the end of each.
 */
export class TextDrafts {
  readonly #drafts = new Map<string, Draft>();

  /** Takes in what an event says about a text part. */
  see(event: Event): void {
    if (event.type === 'annotation') {
      this.#at(event.item, event.part).annotations.push(event.annotation);
    } else if (event.type === 'part-start' && event.kind === 'text') {
      this.#at(event.item, event.part).ext = event.ext;
    } else if (event.type === 'text-delta' && event.kind === 'text' && event.logprobs !== undefined) {
      const { logprobs } = this.#at(event.item, event.part);
      for (const logprob of event.logprobs) logprobs.push(logprob);
    }
  }

  /** The part with the text that it came to. It is over: nothing is kept of it. */
  take(item: number, part: number, text: string): Part {
    const { annotations, logprobs, ext } = this.#at(item, part);
    this.#drafts.delete(keyOf(item, part));
    return compact({ type: 'text', text, annotations, logprobs, ext });
  }

  #at(item: number, part: number): Draft {
    const key = keyOf(item, part);
    const draft = this.#drafts.get(key) ?? { annotations: [], logprobs: [], ext: undefined };
    this.#drafts.set(key, draft);
    return draft;
  }
}

function keyOf(item: number, part: number): string {
  return `${item}/${part}`;
}
