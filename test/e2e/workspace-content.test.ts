import { contentOfWorkspaces } from '../contracts/workspace-content.ts';
import { openTestGateway } from './harness.ts';

contentOfWorkspaces(() => openTestGateway());
