// The clock of one process, set by the number of milliseconds in a file. Timers go on as they are: a machine whose clock
// is set has a monotonic one beside it.
import { readFileSync } from 'node:fs'

const LOOK_MS = 50

export function stepClock(file) {
  const RealDate = Date
  let offset = 0

  function look() {
    try {
      offset = Number(readFileSync(file, 'utf8'))
    } catch {
      offset = 0
    }
  }

  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offset)
      else super(...parts)
    }

    static now() {
      return RealDate.now() + offset
    }
  }
  look()
  setInterval(look, LOOK_MS).unref()
}
