import { describeViews } from './describe-views.ts';
import { faultsSuite } from './views/faults.ts';
import { manyKeysSuite } from './views/many-keys.ts';
import { walkSuite } from './views/walk.ts';

describeViews('the console of a gateway with a long history and very many keys', 'large', [
  walkSuite,
  manyKeysSuite,
  faultsSuite,
]);
