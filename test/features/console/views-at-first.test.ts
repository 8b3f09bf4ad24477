import { describeViews } from './describe-views.ts';
import { filesAndAppsSuite } from './views/files-and-apps.ts';
import { gatewayViewsSuite } from './views/gateway-views.ts';
import { markupSuite } from './views/markup.ts';
import { otherPagesSuite } from './views/other-pages.ts';
import { providersSuite } from './views/providers.ts';
import { restartSuite } from './views/restart.ts';
import { signInSuite } from './views/sign-in.ts';
import { startSuite } from './views/start.ts';

// The last four have gateways of their own.
describeViews('the console of a gateway that nobody has used', 'empty', [
  startSuite,
  signInSuite,
  filesAndAppsSuite,
  otherPagesSuite,
  gatewayViewsSuite,
  providersSuite,
  restartSuite,
  markupSuite,
]);
