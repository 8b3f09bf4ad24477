import { contentOfWorkspaces } from '../../adapters/contracts/workspace-content.ts';
import { openTestGateway } from '../../kit/gateway-harness.ts';

contentOfWorkspaces(() => openTestGateway());
