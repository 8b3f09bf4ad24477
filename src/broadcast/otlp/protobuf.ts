import { FIELDS, type MessageName, type ScalarType } from './fields.ts';
import type { Messages } from './messages.ts';

export function encodeProtobuf<Name extends MessageName>(name: Name, message: Messages[Name]): Buffer {
  const writer = new BackwardWriter();
  PLANS[name].write(message as unknown as Fields, writer);
  return writer.taken();
}

const WIRE = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;

type Fields = Readonly<Record<string, unknown>>;

/** Writes a value of a type; everything is written from its end to its beginning. */
type WriteValue = (value: never, writer: BackwardWriter) => void;

const SCALARS: Readonly<Record<ScalarType, { readonly wire: number; readonly write: WriteValue }>> = {
  string: {
    wire: WIRE.lengthDelimited,
    write: (text: string, writer) => writer.varint(writer.text(text)),
  },
  id: { wire: WIRE.lengthDelimited, write: (hex: string, writer) => writer.varint(writer.hex(hex)) },
  bool: { wire: WIRE.varint, write: (value: boolean, writer) => writer.varint(value ? 1 : 0) },
  enum: { wire: WIRE.varint, write: (value: number, writer) => writer.varint(value) },
  uint32: { wire: WIRE.varint, write: (value: number, writer) => writer.varint(value) },
  int64: { wire: WIRE.varint, write: (digits: string, writer) => writer.int64(digits) },
  double: { wire: WIRE.fixed64, write: (value: number, writer) => writer.double(value) },
  fixed32: { wire: WIRE.fixed32, write: (value: number, writer) => writer.fixed32(value) },
  fixed64: { wire: WIRE.fixed64, write: (digits: string, writer) => writer.fixed64(digits) },
};

class MessagePlan {
  readonly #name: MessageName;
  /** Last field first. */
  #fields: readonly FieldPlan[] | undefined;

  constructor(name: MessageName) {
    this.#name = name;
  }

  write(message: Fields, writer: BackwardWriter): void {
    this.#fields ??= fieldPlans(this.#name);
    for (const { name, tag, isPacked, write } of this.#fields) {
      const value = message[name];
      if (value === undefined) continue;
      if (!Array.isArray(value)) {
        write(value as never, writer);
        writer.varint(tag);
      } else if (isPacked) {
        writePacked(value, write, writer);
        writer.varint(tag);
      } else {
        for (let at = value.length - 1; at >= 0; at -= 1) {
          write(value[at] as never, writer);
          writer.varint(tag);
        }
      }
    }
  }
}

interface FieldPlan {
  readonly name: string;
  /** Number and wire type. */
  readonly tag: number;
  /** True if a list of its values has one tag. */
  readonly isPacked: boolean;
  readonly write: WriteValue;
}

const PLANS = Object.fromEntries(
  (Object.keys(FIELDS) as MessageName[]).map((name) => [name, new MessagePlan(name)]),
) as unknown as Readonly<Record<MessageName, MessagePlan>>;

function fieldPlans(message: MessageName): FieldPlan[] {
  const fields: Readonly<Record<string, readonly [number, ScalarType | MessageName]>> = FIELDS[message];
  return Object.entries(fields)
    .sort(([, [one]], [, [other]]) => other - one)
    .map(([name, [number, type]]) => {
      if (type in SCALARS) {
        const { wire, write } = SCALARS[type as ScalarType];
        const isPacked = PACKED.has(name);
        return { name, tag: number * 8 + (isPacked ? WIRE.lengthDelimited : wire), isPacked, write };
      }
      const plan = PLANS[type as MessageName];
      const write = lengthDelimited(plan);
      return { name, tag: number * 8 + WIRE.lengthDelimited, isPacked: false, write };
    });
}

/** Fields with lists of numbers. */
const PACKED: ReadonlySet<string> = new Set(['bucketCounts', 'explicitBounds']);

function writePacked(values: readonly unknown[], write: WriteValue, writer: BackwardWriter): void {
  const end = writer.length;
  for (let at = values.length - 1; at >= 0; at -= 1) write(values[at] as never, writer);
  writer.varint(writer.length - end);
}

function lengthDelimited(plan: MessagePlan): WriteValue {
  return (message: Fields, writer: BackwardWriter) => {
    const end = writer.length;
    plan.write(message, writer);
    writer.varint(writer.length - end);
  };
}

const FIRST_BYTES = 16_384;

const SHORT_CHARACTERS = 48;

/**
 * Fills a buffer from its end: the length of a nested message is known once the message is written, and stands before
 * it. So there is one pass, and no length is computed beforehand.
 */
class BackwardWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  /** Bytes before this are free. */
  #start = FIRST_BYTES;

  get length(): number {
    return this.#bytes.length - this.#start;
  }

  taken(): Buffer {
    return this.#bytes.subarray(this.#start);
  }

  /** Returns the length. */
  text(text: string): number {
    if (text.length <= SHORT_CHARACTERS && this.#shortAscii(text)) return text.length;
    const length = Buffer.byteLength(text);
    this.#room(length);
    this.#bytes.write(text, this.#start, length, 'utf8');
    return length;
  }

  /** Calls of the buffer's own methods take longer than short texts. False if the text is not ASCII. */
  #shortAscii(text: string): boolean {
    this.#room(text.length);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 127) {
        this.#start += text.length;
        return false;
      }
      this.#bytes[this.#start + at] = code;
    }
    return true;
  }

  /** Returns the length. */
  hex(digits: string): number {
    const length = digits.length / 2;
    this.#room(length);
    this.#bytes.write(digits, this.#start, length, 'hex');
    return length;
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    let bytes = 1;
    for (let left = value; left >= 128; left = Math.floor(left / 128)) bytes += 1;
    this.#room(bytes);
    let left = value;
    for (let at = this.#start; bytes > 0; bytes -= 1, at += 1) {
      this.#bytes[at] = (left % 128) + (bytes > 1 ? 128 : 0);
      left = Math.floor(left / 128);
    }
  }

  /** Negative numbers have ten bytes, as those of 64 bits in two's complement. */
  int64(digits: string): void {
    const value = Number(digits);
    if (Number.isSafeInteger(value) && value >= 0) {
      this.varint(value);
      return;
    }
    const bytes: number[] = [];
    for (let left = BigInt.asUintN(64, BigInt(digits)); ; left >>= 7n) {
      const low = Number(left & 127n);
      if (left < 128n) {
        bytes.push(low);
        break;
      }
      bytes.push(low + 128);
    }
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#start);
  }

  double(value: number): void {
    this.#room(8);
    this.#bytes.writeDoubleLE(value, this.#start);
  }

  fixed32(value: number): void {
    this.#room(4);
    this.#bytes.writeUInt32LE(value, this.#start);
  }

  fixed64(digits: string): void {
    this.#room(8);
    this.#bytes.writeBigUInt64LE(BigInt(digits), this.#start);
  }

  /** Moves the start by so many bytes. */
  #room(bytes: number): void {
    if (this.#start < bytes) {
      const { length } = this;
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, length + bytes));
      this.#bytes.copy(larger, larger.length - length, this.#start);
      this.#start = larger.length - length;
      this.#bytes = larger;
    }
    this.#start -= bytes;
  }
}
