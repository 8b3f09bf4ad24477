/** A statement with named parameters. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | bigint>>;
}

/** Statements with the same parameters; each gets those that it names. */
export function statementsOf(
  sql: readonly string[],
  parameters: Readonly<Record<string, bigint>> = {},
): Statement[] {
  return sql.map((text) => ({
    sql: text,
    parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => text.includes(`$${name}`))),
  }));
}

/** A statement without parameters. */
export function plain(sql: string): Statement {
  return { sql, parameters: {} };
}
