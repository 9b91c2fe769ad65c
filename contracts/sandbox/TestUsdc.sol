// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/** @title A stand-in for USDC on local chains: 6 decimals, and anyone may mint. Never deploy it on a chain of value. */
contract TestUsdc is ERC20 {
    constructor() ERC20("USD Coin (test)", "USDC") {}

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Mints `amount` base units to `to`.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
