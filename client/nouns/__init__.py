"""The methods of the client by noun, each made of one operation of the contract."""
