import type { JsonObject } from '../../kit/json/json.ts';
import { keepText } from '../../kit/text/kept-text.ts';

/** What is sent for a value with a row: the row is JSON text, which the owner writes to its journal as it is. */
export type WithRowText<T extends { readonly row: JsonObject }> = Omit<T, 'row'> & {
  readonly rowText: string;
};

/** Replaces the row by its text: V8 takes longer to serialize and to read fifty members than JSON does. */
export function withRowText<T extends { readonly row: JsonObject }>({ row, ...rest }: T): WithRowText<T> {
  return { ...rest, rowText: JSON.stringify(row) };
}

/** The value again. Its row keeps the text, so that the journal and the database need not write it again. */
export function withRow<T extends { readonly row: JsonObject }>({ rowText, ...rest }: WithRowText<T>): T {
  const row = JSON.parse(rowText) as JsonObject;
  keepText(row, rowText);
  return { ...rest, row } as unknown as T;
}
