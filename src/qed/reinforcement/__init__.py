"""Learning by trial: worlds that answer actions with rewards, and what finds the best policy; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bandits.bandit": ["Bandit"],
        "bandits.epsilon_greedy": ["EpsilonGreedy"],
        "bandits.thompson": ["ThompsonSampling"],
        "bandits.upper_confidence": ["UpperConfidence"],
        "exploration": ["DecayingExploration"],
        "grid_world": ["GridWorld"],
        "policy_iteration": ["PolicyIteration"],
        "q_learning": ["QLearning"],
        "value_iteration": ["ValueIteration"],
        "world": ["World"],
    },
)
