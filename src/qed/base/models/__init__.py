"""The contract of models: parameters, roles, the front door for data, and the templates of fit."""
