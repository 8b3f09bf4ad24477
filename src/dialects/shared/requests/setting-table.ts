import type { Json, JsonObject } from '../../../kit/json/json.ts';

/** How a format writes a setting: its name in the representation and on the wire, and how it is read. */
interface WireSetting<Settings> {
  readonly field: keyof Settings;
  readonly wire: string;
  read(object: JsonObject, wire: string): Settings[keyof Settings] | undefined;
}

type Rows<Settings> = {
  readonly [Field in keyof Settings]?: readonly [
    wire: string,
    read: (object: JsonObject, wire: string) => Settings[Field] | undefined,
  ];
};

/** Settings of which a format only has names of its own: one table for parsing, rendering and the relay lane. */
export class SettingTable<Settings extends object> {
  readonly rows: readonly WireSetting<Settings>[];
  readonly #wires: ReadonlySet<string>;

  constructor(rows: Rows<Settings>) {
    const entries = Object.entries(rows) as [
      keyof Settings,
      readonly [string, WireSetting<Settings>['read']],
    ][];
    this.rows = entries.map(([field, [wire, read]]) => ({ field, wire, read }));
    this.#wires = new Set(this.rows.map(({ wire }) => wire));
  }

  /** The settings in an object of the wire. Most requests have none: each row is looked up only if there is one. */
  parse(object: JsonObject): Settings {
    const settings: Partial<Settings> = {};
    if (!this.#hasAny(object)) return settings as Settings;
    for (const { field, wire, read } of this.rows) {
      const value = read(object, wire);
      if (value !== undefined) settings[field] = value;
    }
    return settings as Settings;
  }

  /** The settings under their names on the wire. */
  render(settings: Settings): JsonObject {
    const object: JsonObject = {};
    for (const { field, wire } of this.rows) {
      const value = settings[field];
      if (value !== undefined) object[wire] = value as Json;
    }
    return object;
  }

  #hasAny(object: JsonObject): boolean {
    for (const name in object) if (this.#wires.has(name)) return true;
    return false;
  }
}
