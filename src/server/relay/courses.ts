import type { Hex } from '../../protocol/hex.js'
import type { Course } from './course.js'

/** The courses under way, one for each digest at most. */
export interface Courses {
  of(digest: Hex): Promise<Course> | undefined
  /** To be called before anything is awaited, so that whoever comes next joins. */
  register(digest: Hex, begun: Promise<Course>): Promise<Course>
  count(): number
  /** Resolves when all that are under way now have ended. */
  ended(): Promise<void>
}

/** @param onEnd called with each that has ended, or was left for the next process */
export function createCourses(onEnd: (course: Course) => void): Courses {
  const underWay = new Map<Hex, Promise<Course>>()
  return {
    of: (digest) => underWay.get(digest),
    register(digest, begun) {
      underWay.set(digest, begun)
      const forget = () => underWay.delete(digest)
      const ended = begun.then((course) => course.end.then(() => course))
      ended.then((course) => {
        forget()
        onEnd(course)
      }, forget)
      return begun
    },
    count: () => underWay.size,
    async ended() {
      const begun = await Promise.allSettled(underWay.values())
      await Promise.all(begun.map((course) => (course.status === 'fulfilled' ? course.value.end : undefined)))
    },
  }
}
