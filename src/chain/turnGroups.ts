/**
 * Gathers what is handed in during one turn of the event loop, and hands it on in groups, in the same order: under load
 * one for many, and without a wait for who comes alone.
 *
 * @param limit of the sizes in one group together; what is larger has a group of its own
 */
export function createTurnGroups<T>(
  { limit, sizeOf }: { limit: number; sizeOf: (item: T) => number },
  handle: (group: readonly T[]) => void,
): (item: T) => void {
  let gathered: T[] = []

  function handOn(): void {
    const items = gathered
    gathered = []
    let group: T[] = []
    let size = 0
    for (const item of items) {
      const added = sizeOf(item)
      if (group.length > 0 && size + added > limit) {
        handle(group)
        group = []
        size = 0
      }
      group.push(item)
      size += added
    }
    handle(group)
  }

  return (item) => {
    if (gathered.length === 0) setImmediate(handOn)
    gathered.push(item)
  }
}
