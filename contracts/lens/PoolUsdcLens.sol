// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IOrderEscrow} from "../interfaces/IOrderEscrow.sol";

/**
 * @title The USDC that the pool holds, in one `eth_call`.
 *
 * @dev Never deployed, see {WalletLens}. The caller need not look up the USDC address first.
 */
contract PoolUsdcLens {
    constructor(IOrderEscrow escrow, address pool) {
        bytes memory answer = abi.encode(escrow.usdc().balanceOf(pool));
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}
