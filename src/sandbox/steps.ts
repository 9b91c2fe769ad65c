import type { CleanUp } from './cleanUp.js'

/** Prints one line for the person at the terminal. */
export type Print = (line: string) => void

/** Prints the result of a step. */
export type PrintStep = (step: string, text: string) => void

/** Wide enough for the longest step. */
const STEP_WIDTH = 14

/** Prints each step's text in a column beside its name; a step without a name continues the previous one. */
export function stepsTo(print: Print): PrintStep {
  return (step, text) => print(`${step.padEnd(STEP_WIDTH)}${text}`)
}

/** The dependencies of every start-up step. */
export interface Stage {
  readonly cleanUp: CleanUp
  readonly printStep: PrintStep
}
