import type { InboundDialect } from '../dialects/dialect.ts';
import { invalidRequest } from '../ir/errors.ts';
import type { Format } from '../ir/items.ts';
import { compileValidator } from '../kit/validate.ts';
import { generation } from './generate.ts';
import type { Handler } from './route.ts';

/** The handler of `POST /routing/explain`: checks the body by the schema of the format that it names. */
export function explainHandler(vendor: string, dialects: Readonly<Record<Format, InboundDialect>>): Handler {
  const validators = Object.fromEntries(
    Object.entries(dialects).map(([format, dialect]) => [
      format,
      compileValidator(dialect.requestSchema(vendor)),
    ]),
  ) as Record<Format, ReturnType<typeof compileValidator>>;
  return (call) => {
    const { format: named, ...body } = call.body;
    const format = (named ?? 'responses') as Format;
    const issues = validators[format].issuesOf(body);
    if (issues.length > 0) throw invalidRequest(issues);
    return generation({ ...call, body }, format, async (input) => {
      const { services, exchange } = call;
      exchange.reply.json(200, { data: await services.gateway.explain(input) });
    });
  };
}
