"""What is done with a saved model beside predicting."""
