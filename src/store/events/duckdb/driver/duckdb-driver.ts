import duckdb, {
  type Connection,
  type Database,
  type DataChunk,
  type Result,
  type Vector,
} from '@duckdb/node-bindings';
import type { PackedColumn } from '../pack-events.ts';
import type { Statement } from './statement.ts';

// How DuckDB is spoken to. It uses the bindings themselves: loading `@duckdb/node-api`, of 181 files, takes
// twice as long as starting the thread.

/** Values of a column, null included. */
export type DuckdbColumn = unknown[];

const { Type } = duckdb;
const utf8 = new TextDecoder();

/** Bytes of a value, and how it is read; DuckDB runs only on processors that put the lowest byte first. */
type Reader = readonly [width: number, read: (view: DataView, at: number) => unknown];

const READERS: { readonly [type: number]: Reader } = {
  [Type.BOOLEAN]: [1, (view, at) => view.getUint8(at) !== 0],
  [Type.TINYINT]: [1, (view, at) => view.getInt8(at)],
  [Type.SMALLINT]: [2, (view, at) => view.getInt16(at, true)],
  [Type.INTEGER]: [4, (view, at) => view.getInt32(at, true)],
  [Type.BIGINT]: [8, (view, at) => view.getBigInt64(at, true)],
  [Type.HUGEINT]: [16, (view, at) => (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true)],
  [Type.UTINYINT]: [1, (view, at) => view.getUint8(at)],
  [Type.USMALLINT]: [2, (view, at) => view.getUint16(at, true)],
  [Type.UINTEGER]: [4, (view, at) => view.getUint32(at, true)],
  [Type.UBIGINT]: [8, (view, at) => view.getBigUint64(at, true)],
  [Type.FLOAT]: [4, (view, at) => view.getFloat32(at, true)],
  [Type.DOUBLE]: [8, (view, at) => view.getFloat64(at, true)],
  [Type.VARCHAR]: [16, textAt],
};

/** A text of up to 12 bytes lies beside its length, a longer one elsewhere. */
function textAt(view: DataView, at: number): string {
  const length = view.getUint32(at, true);
  const buffer = view.buffer as ArrayBuffer;
  return utf8.decode(
    length <= 12
      ? new Uint8Array(buffer, view.byteOffset + at + 4, length)
      : duckdb.get_data_from_pointer(buffer, view.byteOffset + at + 8, length),
  );
}

/** Bytes of a bit for each row, in whole words. */
const validityBytes = (rows: number) => Math.ceil(rows / 64) * 8;

function readVector(vector: Vector, rows: number, [width, read]: Reader, into: DuckdbColumn): void {
  const data = duckdb.vector_get_data(vector, rows * width);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  // Absent if no value is null.
  const valid = duckdb.vector_get_validity(vector, validityBytes(rows)) as Uint8Array | null;
  for (let row = 0; row < rows; row++) {
    const isNull = valid !== null && ((valid[row >> 3] ?? 0) & (1 << (row & 7))) === 0;
    into.push(isNull ? null : read(view, row * width));
  }
}

async function execute(connection: Connection, { sql, parameters }: Statement): Promise<Result> {
  const values = Object.entries(parameters);
  if (values.length === 0) return duckdb.query(connection, sql);
  const prepared = await duckdb.prepare(connection, sql);
  try {
    for (const [name, value] of values) {
      const index = duckdb.bind_parameter_index(prepared, name);
      if (typeof value === 'bigint') duckdb.bind_hugeint(prepared, index, value);
      else duckdb.bind_varchar(prepared, index, value);
    }
    return await duckdb.execute_prepared(prepared);
  } finally {
    duckdb.destroy_prepare_sync(prepared);
  }
}

function writeNumbers(vector: Vector, numbers: Float64Array<ArrayBuffer>): void {
  duckdb.copy_data_to_vector(vector, 0, numbers.buffer, numbers.byteOffset, numbers.byteLength);
  writeNulls(vector, numbers.length, (row) => Number.isNaN(numbers[row]));
}

function writeTexts(vector: Vector, texts: readonly (string | null)[]): void {
  for (let row = 0; row < texts.length; row++) {
    const text = texts[row] ?? null;
    if (text !== null) duckdb.vector_assign_string_element(vector, row, text);
  }
  writeNulls(vector, texts.length, (row) => (texts[row] ?? null) === null);
}

function writeNulls(vector: Vector, rows: number, isNull: (row: number) => boolean): void {
  const valid = new Uint8Array(validityBytes(rows)).fill(255);
  let nulls = 0;
  for (let row = 0; row < rows; row++) {
    if (!isNull(row)) continue;
    nulls += 1;
    valid[row >> 3] = (valid[row >> 3] ?? 0) & ~(1 << (row & 7));
  }
  if (nulls === 0) return;
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, valid.byteLength);
}

export function openDatabase(file: string, options: Readonly<Record<string, string>>): Promise<Database> {
  const config = duckdb.create_config();
  for (const [name, value] of Object.entries(options)) duckdb.set_config(config, name, value);
  return duckdb.open(file, config);
}

export async function columnsOf(connection: Connection, statement: Statement): Promise<DuckdbColumn[]> {
  const result = await execute(connection, statement);
  const columns: DuckdbColumn[] = [];
  const readers: Reader[] = [];
  for (let place = 0; place < duckdb.column_count(result); place++) {
    const type = duckdb.column_type(result, place);
    const reader = READERS[type];
    if (reader === undefined) throw new Error(`a column of the type ${Type[type]} cannot be read`);
    readers.push(reader);
    columns.push([]);
  }
  for (;;) {
    const chunk = await duckdb.fetch_chunk(result);
    const rows = chunk === null ? 0 : duckdb.data_chunk_get_size(chunk);
    if (chunk === null || rows === 0) return columns;
    for (const [place, reader] of readers.entries()) {
      readVector(duckdb.data_chunk_get_vector(chunk, place), rows, reader, columns[place] ?? []);
    }
    // The chunk owns the memory: without a use after the last read, it may be collected before.
    if (duckdb.data_chunk_get_size(chunk) !== rows) throw new Error('a result changed while it was read');
  }
}

/** Rows of columns that can be appended to a table. */
export function chunkOf(columns: readonly PackedColumn[]): DataChunk {
  const rows = columns[0]?.length ?? 0;
  // Writing beyond the end of a vector would end the process.
  if (rows > duckdb.vector_size() || columns.some(({ length }) => length !== rows)) {
    throw new Error(`columns of ${columns.map(({ length }) => length).join(', ')} rows cannot be appended`);
  }
  const isText = (column: PackedColumn): column is readonly (string | null)[] => Array.isArray(column);
  const chunk = duckdb.create_data_chunk(
    columns.map((column) => duckdb.create_logical_type(isText(column) ? Type.VARCHAR : Type.DOUBLE)),
  );
  duckdb.data_chunk_set_size(chunk, rows);
  for (const [place, column] of columns.entries()) {
    const vector = duckdb.data_chunk_get_vector(chunk, place);
    if (isText(column)) writeTexts(vector, column);
    else writeNumbers(vector, column);
  }
  return chunk;
}
