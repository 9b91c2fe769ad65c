// A process of its own that sends requests when they are due.
import { sendOpenLoop } from './openLoop.js'
import { openLoopPlanSchema } from './openLoopPlan.js'

process.on('message', (message) => {
  void sendOpenLoop(openLoopPlanSchema.parse(message)).then((figures) => process.send?.(figures))
})
process.on('disconnect', () => process.exit(0))
