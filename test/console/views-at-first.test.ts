import { describeViews } from './describe-views.ts';
import { filesAndAppsSuite } from './views/files-and-apps.ts';
import { gatewayViewsSuite } from './views/gateway-views.ts';
import { markupSuite } from './views/markup.ts';
import { otherPagesSuite } from './views/other-pages.ts';
import { restartSuite } from './views/restart.ts';
import { signInSuite } from './views/sign-in.ts';
import { startSuite } from './views/start.ts';

// The last three have gateways of their own.
describeViews('the console of a gateway that nobody has used', 'empty', [
  startSuite,
  signInSuite,
  filesAndAppsSuite,
  otherPagesSuite,
  gatewayViewsSuite,
  restartSuite,
  markupSuite,
]);
