import { lostAnswersLaw } from './lost-answers.ts';

lostAnswersLaw('chat');
