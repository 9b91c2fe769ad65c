import type { CleanUp } from './cleanUp.js'

/** Takes one line for the person at the terminal. */
export type Print = (line: string) => void

/** Tells what a step has come to. */
export type TellStep = (step: string, text: string) => void

/** Wide enough for the longest step. */
const STEP_WIDTH = 14

/** Prints each step with its text in a column beside its name; a step without a name goes on with the one before. */
export function stepsTo(print: Print): TellStep {
  return (step, text) => print(`${step.padEnd(STEP_WIDTH)}${text}`)
}

/** What every part of the start works with. */
export interface Stage {
  readonly cleanUp: CleanUp
  readonly tell: TellStep
}
