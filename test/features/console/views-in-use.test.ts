import { describeViews } from './describe-views.ts';
import { accessSuite } from './views/access.ts';
import { allViewsSuite } from './views/all-views.ts';
import { analyticsSuite } from './views/analytics.ts';
import { brokenAnalyticsSuite } from './views/broken-analytics.ts';
import { brokenPartsSuite } from './views/broken-parts.ts';
import { classifiersSuite } from './views/classifiers.ts';
import { conversationsSuite } from './views/conversations.ts';
import { destinationsSuite } from './views/destinations.ts';
import { guardrailsSuite } from './views/guardrails.ts';
import { keysSuite } from './views/keys.ts';
import { logSuite } from './views/log.ts';
import { overviewSuite } from './views/overview.ts';
import { playgroundSuite } from './views/playground.ts';

// The last one looks at what all others have made.
describeViews('the console of a gateway with a history', 'history', [
  overviewSuite,
  analyticsSuite,
  brokenAnalyticsSuite,
  brokenPartsSuite,
  logSuite,
  conversationsSuite,
  keysSuite,
  accessSuite,
  guardrailsSuite,
  destinationsSuite,
  classifiersSuite,
  playgroundSuite,
  allViewsSuite,
]);
