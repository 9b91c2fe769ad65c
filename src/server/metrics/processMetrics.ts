import { collectDefaultMetrics } from '@prometheus-io/client'
import type { Service } from '../lifetime.js'
import type { Metrics } from './metrics.js'

/** Adds what Node and the system tell of the process: CPU, memory, event loop, garbage collection, open files. */
export function processMetrics({ registry }: Pick<Metrics, 'registry'>): Service {
  return {
    name: 'process metrics',
    async start() {
      collectDefaultMetrics({ register: registry })
    },
    async stop() {},
  }
}
