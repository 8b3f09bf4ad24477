import type { InboundDialect } from '../../dialects/dialect.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { Format } from '../../ir/items.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import type { Handler } from '../route.ts';
import { GenerationRun } from './generate.ts';

/** The handler of `POST /routing/explain`: checks the body by the schema of the format that it names. */
export function explainHandler(vendor: string, dialects: Readonly<Record<Format, InboundDialect>>): Handler {
  const validators = Object.fromEntries(
    Object.entries(dialects).map(([format, dialect]) => [
      format,
      compileValidator(dialect.requestSchema(vendor)),
    ]),
  ) as Record<Format, ReturnType<typeof compileValidator>>;
  return async (call) => {
    const { format: named, ...body } = call.body;
    const format = (named ?? 'responses') as Format;
    const issues = validators[format].issuesOf(body);
    if (issues.length > 0) throw invalidRequest(issues);
    const { services, exchange } = call;
    const run = new GenerationRun({ ...call, body }, format);
    try {
      exchange.reply.json(200, { data: await services.gateway.explain(run.input) });
    } finally {
      run.end();
    }
  };
}
