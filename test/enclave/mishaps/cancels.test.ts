import { cancels } from '../support/scenarios.js'
import { sweep } from '../support/sweep.js'
import { useWorld } from '../support/world.js'

sweep(useWorld(), cancels)
