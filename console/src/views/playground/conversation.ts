/** What is said in the playground, in the terms of no format. */

export interface Picture {
  readonly name: string;
  /** A data URL. */
  readonly url: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** A tool that the caller runs: the reader of the page types its result. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type FormatName = 'responses' | 'messages' | 'chat';

export interface UserTurn {
  readonly role: 'user';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

export interface AssistantTurn {
  readonly role: 'assistant';
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** The answer as its format sends it back, with signatures of reasoning; it serves that format alone. */
  readonly native?: { readonly format: FormatName; readonly value: readonly unknown[] };
}

export interface ToolTurn {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

export type Turn = UserTurn | AssistantTurn | ToolTurn;

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

/** Members of a request besides the conversation; absent ones are not sent. */
export interface Settings {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly effort?: Effort;
  /** Routing preferences: the member `provider`. */
  readonly provider?: Readonly<Record<string, unknown>>;
}

/** Everything that a request is made of. */
export interface Draft {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly settings: Settings;
}

/** A stored request as a conversation. Stored content has one form, whatever the format of the request was. */
export function conversationOf(input: unknown): Pick<Draft, 'system' | 'turns'> {
  const { messages, prompt } = (input ?? {}) as { messages?: unknown; prompt?: unknown };
  if (typeof prompt === 'string') return { system: '', turns: [userTurn(prompt)] };
  const items = Array.isArray(messages) ? (messages as StoredItem[]) : [];
  const system = items.filter(isSystem).map(textOf).join('\n\n');
  return { system, turns: items.filter((item) => !isSystem(item)).reduce(withItem, []) };
}

export function userTurn(text: string, pictures: readonly Picture[] = []): UserTurn {
  return { role: 'user', text, pictures };
}

interface StoredItem {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: unknown;
}

function isSystem({ role }: StoredItem): boolean {
  return role === 'system' || role === 'developer';
}

function withItem(turns: readonly Turn[], item: StoredItem): readonly Turn[] {
  if (item.type === 'function_call') {
    const call = { id: item.call_id ?? '', name: item.name ?? '', arguments: item.arguments ?? '{}' };
    const last = turns.at(-1);
    return last?.role === 'assistant'
      ? [...turns.slice(0, -1), { ...last, calls: [...last.calls, call] }]
      : [...turns, { role: 'assistant', text: '', calls: [call] }];
  }
  if (item.type === 'function_call_output') {
    const callId = item.call_id ?? '';
    const text = typeof item.output === 'string' ? item.output : JSON.stringify(item.output ?? '');
    return [...turns, { role: 'tool', callId, name: nameOfCall(turns, callId), text }];
  }
  if (item.role === 'assistant') return [...turns, { role: 'assistant', text: textOf(item), calls: [] }];
  return item.role === 'user' ? [...turns, userTurn(textOf(item), picturesOf(item))] : turns;
}

function nameOfCall(turns: readonly Turn[], id: string): string {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : []));
  return calls.find((call) => call.id === id)?.name ?? id;
}

interface StoredPart {
  readonly text?: unknown;
  readonly image_url?: unknown;
}

function partsOf({ content }: StoredItem): readonly StoredPart[] {
  return Array.isArray(content) ? (content as StoredPart[]) : [];
}

function textOf(item: StoredItem): string {
  if (typeof item.content === 'string') return item.content;
  return partsOf(item)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}

/** Pictures that the page can show: those inside the request. Others would be fetched from elsewhere. */
function picturesOf(item: StoredItem): readonly Picture[] {
  return partsOf(item).flatMap(({ image_url: image }) => {
    const url = typeof image === 'string' ? image : (image as { url?: unknown } | undefined)?.url;
    return typeof url === 'string' && url.startsWith('data:image/') ? [{ name: 'picture', url }] : [];
  });
}
