const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** Office documents are archives that hold an entry of this name, or one that begins so. */
const ENTRIES: Readonly<Record<string, string>> = {
  'word/document': `${OFFICE}.wordprocessingml.document`,
  'xl/workbook.xml': `${OFFICE}.spreadsheetml.sheet`,
  'ppt/presentation.xml': `${OFFICE}.presentationml.presentation`,
};

const ENTRY_HEAD = Buffer.from('PK\x03\x04', 'latin1');

/** Bytes of the head of an entry before its name. */
const HEAD_BYTES = 30;

const LONGEST_NAME = Math.max(...Object.keys(ENTRIES).map((name) => name.length));

/** Tells which kind of office document an archive is, by the heads of its entries. */
export class ArchiveType {
  #isArchive: boolean | undefined;
  #type: string | undefined;
  /** The end of what came, in which a head may have begun. */
  #rest = Buffer.alloc(0);

  push(piece: Uint8Array): void {
    if (this.#isArchive === false || this.#type !== undefined) return;
    const bytes = Buffer.concat([this.#rest, piece]);
    if (bytes.length >= ENTRY_HEAD.length)
      this.#isArchive ??= bytes.subarray(0, ENTRY_HEAD.length).equals(ENTRY_HEAD);
    this.#type = officeTypeIn(bytes);
    this.#rest = bytes.subarray(Math.max(0, bytes.length - HEAD_BYTES - LONGEST_NAME));
  }

  end(): string | undefined {
    return this.#isArchive === true ? this.#type : undefined;
  }
}

function officeTypeIn(bytes: Buffer): string | undefined {
  for (const [name, type] of Object.entries(ENTRIES)) {
    for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + 1)) {
      const head = at - HEAD_BYTES;
      if (head >= 0 && bytes.subarray(head, head + ENTRY_HEAD.length).equals(ENTRY_HEAD)) return type;
    }
  }
  return undefined;
}
