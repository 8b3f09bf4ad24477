import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { renderAnnotation } from './annotation.ts';

/**
 * How much text a stream has told its caller: citations point into all of it, while each part of the answer counts from
 * its own beginning.
 */
export class ToldText {
  #length = 0;
  /** The part that is being written, and where it begins. */
  #part = { item: -1, part: -1, start: 0 };
  /** Annotations of that part that are about all of it. */
  #waiting: Annotation[] = [];

  add(item: number, part: number, text: string): void {
    const isSame = item === this.#part.item && part === this.#part.part;
    if (!isSame) this.#part = { item, part, start: this.#length };
    this.#length += text.length;
  }

  /** The annotations to write now: what is about the whole part waits for its end, unless that is never told. */
  annotate(item: number, part: number, annotation: Annotation, canWait: boolean): JsonObject[] {
    this.add(item, part, '');
    const isAboutAll = annotation.type === 'url-citation' && annotation.endIndex === undefined;
    if (!isAboutAll || !canWait) return this.#rendered([annotation]);
    this.#waiting.push(annotation);
    return [];
  }

  /** The annotations that waited for the end of the part. */
  endPart(): JsonObject[] {
    return this.#rendered(this.#waiting.splice(0));
  }

  #rendered(annotations: readonly Annotation[]): JsonObject[] {
    const { start } = this.#part;
    return annotations.flatMap((annotation) =>
      renderAnnotation(annotation, { start, length: this.#length - start }),
    );
  }
}
