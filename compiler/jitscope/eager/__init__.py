"""What runs outside of any trace: operations one by one (`operations`), the library's functions each as one compiled program
(`functions`), both by the same way of running (`running`)."""
