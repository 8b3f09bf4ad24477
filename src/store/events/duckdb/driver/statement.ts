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

export function plain(sql: string): Statement {
  return { sql, parameters: {} };
}

/** Binds a value as a parameter and returns its placeholder. */
export type Bind = (value: string | bigint) => string;

export function binder(): { readonly bind: Bind; readonly parameters: Record<string, string | bigint> } {
  const parameters: Record<string, string | bigint> = {};
  let bound = 0;
  return {
    parameters,
    bind(value) {
      const name = `p${bound}`;
      bound += 1;
      parameters[name] = value;
      return typeof value === 'bigint' ? `$${name}::BIGINT` : `$${name}::VARCHAR`;
    },
  };
}
