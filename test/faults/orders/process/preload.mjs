// Preloaded into every thread of the server (`node --import`), so that the server itself knows nothing of the bench.
import { stepClock } from './steppedClock.mjs'
import './faultyStore.mjs'
import './watchedSpawn.mjs'

stepClock(process.env.FAULTS_CLOCK)
