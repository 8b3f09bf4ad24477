import { FORMATS } from '../../dialects/dialects.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { Format } from '../../ir/items.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import type { Handler } from '../route.ts';
import { GenerationRun } from './generate.ts';

/** The handler of `POST /routing/explain`: checks the body by the schema of the format that it names. */
export function explainHandler(vendor: string): Handler {
  const validators = new Map(
    FORMATS.map(({ name, inbound }) => [name, compileValidator(inbound.requestSchema(vendor))]),
  );
  return async (call) => {
    const { format: named, ...body } = call.body;
    const format = (named ?? 'responses') as Format;
    const issues = validators.get(format)?.issuesOf(body) ?? [];
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
