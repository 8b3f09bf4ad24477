import { paired, spreadOf } from './compare/spread.ts';
import { measureValidation } from './compare/validation-cost.ts';

/** What checking a request against the schema of its format costs, beside JSON.parse of it. */
for (const { name, parse, validation } of measureValidation(20)) {
  const share = paired(validation, parse, (left, right) => left / right);
  const figures = [spreadOf(parse), spreadOf(validation)].map(({ median }) => median.toFixed(2).padStart(9));
  console.log(
    `${name.padEnd(18)} parse ${figures[0]} µs  validation ${figures[1]} µs  ${share.median.toFixed(3)}x`,
  );
}
