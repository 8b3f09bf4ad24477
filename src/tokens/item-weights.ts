import type { Item } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { jsonLength } from '../kit/json/json-length.ts';
import { addItem, addPrompt, MESSAGE_OVERHEAD_TOKENS } from './add-parts.ts';
import { TypicalCounter } from './part-counter.ts';

/** Estimated tokens of the items of a prompt, whose tokens were counted as a whole. */
export class ItemWeights {
  readonly tokensPerCharacter: number;
  /** Tokens of everything besides items: tools, schemas. */
  readonly besides: number;

  constructor(request: GenerationRequest, promptTokens: number) {
    const whole = addPrompt(request, new Measure());
    const tokens = Math.max(0, promptTokens - whole.tokens);
    this.tokensPerCharacter = whole.characters === 0 ? 1 : Math.max(tokens / whole.characters, MIN_RATIO);
    const ofItems = request.items.reduce((sum, item) => sum + this.of(item), 0);
    this.besides = Math.max(0, promptTokens - ofItems);
  }

  of(item: Item): number {
    const measure = new Measure();
    addItem(item, measure);
    return measure.tokens + measure.characters * this.tokensPerCharacter + MESSAGE_OVERHEAD_TOKENS;
  }
}

/** Tokens a character that no text is below. */
const MIN_RATIO = 0.001;

/** Characters of text, and tokens that are known without counting. */
class Measure extends TypicalCounter {
  characters = 0;
  tokens = 0;

  addText(text: string): void {
    this.characters += text.length;
  }

  addJson(value: object): void {
    this.characters += jsonLength(value);
  }

  addTokens(tokens: number): void {
    this.tokens += tokens;
  }
}
