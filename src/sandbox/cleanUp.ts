/** Undo steps, run in reverse order. */
export interface CleanUp {
  add(step: () => Promise<void>): void
  /** Runs every step once, continuing after a failed one; throws the first failure. */
  run(): Promise<void>
}

export function createCleanUp(): CleanUp {
  const steps: (() => Promise<void>)[] = []
  return {
    add(step) {
      steps.push(step)
    },
    async run() {
      const failures: unknown[] = []
      for (let step = steps.pop(); step; step = steps.pop()) {
        await step().catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
