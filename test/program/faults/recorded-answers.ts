import Database from 'libsql';

/** What the gateway recorded of one generation. */
export interface RecordedAnswer {
  readonly id: string;
  readonly user: string;
  readonly tokens: number;
  readonly source: string;
  readonly finishReason: string | null;
  readonly cancelled: boolean;
  readonly creditNanos: bigint;
}

/** Every generation that has a row in a data directory. No gateway may have it open. */
export function recordedAnswers(dataDirectory: string): RecordedAnswer[] {
  const database = new Database(`${dataDirectory}/signalbox.sqlite`, { readonly: true });
  try {
    database.defaultSafeIntegers(true);
    const rows = database.prepare('SELECT id, credit_nanos, details FROM generations').all() as {
      id: string;
      credit_nanos: bigint | string;
      details: string;
    }[];
    return rows.map(({ id, credit_nanos, details }) => {
      const row = JSON.parse(details);
      return {
        id,
        user: row.external_user,
        tokens: row.native_tokens_completion,
        source: row.usage_source,
        finishReason: row.finish_reason,
        cancelled: row.cancelled,
        creditNanos: BigInt(credit_nanos),
      };
    });
  } finally {
    database.close();
  }
}
