export interface Instruction {
  readonly name: string
  readonly value: string
}

/** The instructions of a Dockerfile, without comments, each on one line. */
export function instructionsOf(text: string): Instruction[] {
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => /^(\w+) (.+)$/.exec(line))
    .flatMap((match) => (match?.[1] && match[2] ? [{ name: match[1], value: match[2] }] : []))
}

/** The instructions of each stage by its name, its FROM first, in the order of the file. */
export function stagesOf(instructions: readonly Instruction[]): Map<string, Instruction[]> {
  const stages = new Map<string, Instruction[]>()
  let current: Instruction[] | undefined
  for (const instruction of instructions) {
    if (instruction.name === 'FROM') {
      current = []
      stages.set(/ AS (\w+)$/.exec(instruction.value)?.[1] ?? '', current)
    }
    current?.push(instruction)
  }
  return stages
}
